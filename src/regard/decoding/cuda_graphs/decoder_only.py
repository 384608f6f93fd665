"""Texts read on by recorded steps: what a step asks of the GPU is asked once, and replayed ever after."""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from torch import Tensor

from regard.decoding.cuda_graphs.capture import CapturedGraph, power_of_two, recordings_of
from regard.decoding.steppers.decoder_only import DecoderOnlyStepper
from regard.models.base.protocols import CausalLM, RecordableText

FEWEST_SLOTS = 64


@dataclass(frozen=True)
class TextGraphKey:
    """The room a recording has: sizes are powers of two, so that few recordings serve all texts."""

    rows: int
    slots: int


class TextRecording(CapturedGraph):
    """One step of up to so many texts."""

    def __init__(self, model: RecordableText, shape: TextGraphKey, device: torch.device, number: int = 0) -> None:
        self.shape = shape
        self.static_state: Any = model.fixed_text(shape.rows, shape.slots)
        self.tokens = torch.zeros(shape.rows, dtype=torch.long, device=device)
        self.logits = torch.zeros(0)  # (R, V)
        self.owner: weakref.ref[RecordedReader] | None = None
        self._graphs = {}

    def _step(self) -> None:
        self.logits = self.static_state.step(self.tokens)


class RecordedReader(DecoderOnlyStepper):
    """Reads beginnings plainly, and goes on by recorded steps; every continuation is a row of its own."""

    def __init__(self, model: CausalLM, padding: int) -> None:
        super().__init__(model, padding)
        self._recordings = recordings_of(model)
        self._now: TextRecording | None = None
        self._rows: list[int] = []
        """Which text each row goes on from, before the first step; and then which row of the recording it is."""
        self._used = 0
        self._is_plain = False

    def begin(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Read rows of different lengths from nothing on, and return the logits (R, V) of what follows each."""
        self._now, self._rows, self._is_plain = None, list(range(len(rows))), False
        return super().begin(rows)

    def select(self, hypotheses: Sequence[int], texts: Sequence[int] | None = None) -> None:
        """Go on with these rows, in this order; nothing moves."""
        if self._is_plain:
            super().select(hypotheses, hypotheses)
        else:
            self._rows = [self._rows[place] for place in hypotheses]

    def step(self, tokens: Sequence[int]) -> Tensor:
        """Read one more token of each row, and return the logits (R, V) of what follows it."""
        if self._now is None and not self._is_plain:
            self._load()
        if self._is_plain or self._now is None:
            return super().step(tokens)
        if self._used == self._now.shape.slots:
            self._grow(self._now)
        now = self._now
        if len(tokens) == len(now.tokens) and self._rows == list(range(len(tokens))):
            now.tokens.copy_(torch.tensor(tokens), non_blocking=True)
            now.run()
            rows = None
        else:
            rows = torch.tensor(self._rows, device=self.device)
            now.tokens[rows] = torch.tensor(tokens, device=self.device)
            now.run()
        self._used += 1
        return now.logits if rows is None else now.logits.index_select(0, rows)

    def _load(self) -> None:
        """Take what was read over into a recording; where memory is too short for one, go on plainly."""
        state: Any = self._state
        texts = torch.tensor(self._rows, device=self.device)
        used = state.caches[0].length
        now = self._free_recording(len(self._rows), power_of_two(max(FEWEST_SLOTS, 2 * used)))
        if now is None:
            self._is_plain = True
            super().select(self._rows, self._rows)
            return
        self._used = now.static_state.load(state, texts)
        self._now, self._rows = now, list(range(len(self._rows)))
        self._state = self.model.start()  # its memory can go

    def _grow(self, now: TextRecording) -> None:
        larger = self._free_recording(now.shape.rows, 2 * now.shape.slots)
        if larger is None:
            raise torch.OutOfMemoryError(f"No memory for {now.shape.rows} texts of {2 * now.shape.slots} tokens.")
        larger.static_state.take(now.static_state, self._used)
        now.owner = None
        self._now = larger

    def _free_recording(self, rows: int, slots: int) -> TextRecording | None:
        """Return a recording that nobody else is going on with."""
        shape = TextGraphKey(power_of_two(rows), slots)
        for number in count():
            found = self._recordings.of(TextRecording, shape, number)
            if found is None:
                return None
            owner = found.owner and found.owner()
            if owner is None or owner is self:
                found.owner = weakref.ref(self)
                return found
        raise AssertionError("numbers never end")


def build_reader(model: CausalLM, padding: int) -> DecoderOnlyStepper:
    """Return the reader that suits a model: recorded on a CUDA device, unless someone listens."""
    supports_cuda_graphs = isinstance(model, RecordableText) and model.head.weight.is_cuda
    return (RecordedReader if supports_cuda_graphs and not recordings_of(model).is_heard else DecoderOnlyStepper)(
        model, padding
    )
