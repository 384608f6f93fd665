"""Mask-predict of which everything is recorded: the device reads the sources, says how long outputs may be, and then
goes through all passes without asking anybody.

The host looks at the lengths alone, since they decide how much room the outputs take.
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.decoding.cuda_graphs.capture import CapturedGraph, Recordings, recordings_of
from regard.decoding.search.mask_predict import (
    MaskPredictState,
    candidate_rows,
    fill_in,
    in_order,
    likely_lengths,
    summary,
)
from regard.decoding.settings import MaskPredictDecodeSettings
from regard.decoding.steppers.interface import Hypothesis, SpecialTokens
from regard.models.base.protocols import ConditionalMaskedLM

LARGEST = 2**14
"""Places of outputs, padding among them, up to which a recording is worth it: from there on the device is busy."""
FINEST = 8
"""Of a length: attention would fill up others, once a layer."""


@dataclass(frozen=True)
class MaskShape:
    """The room a recording has; sizes are on a grid, so that few recordings serve all batches."""

    sentences: int
    length: int
    width: int = 0
    """Of the outputs, where these are recorded too."""


def padded_to_bucket(size: int, finest: int = FINEST) -> int:
    """Return the next size with at most three significant bits, a whole multiple of the finest step."""
    step = max(finest, 1 << max(0, size.bit_length() - 3))
    return -(-size // step) * step


class SourceRecording(CapturedGraph):
    """Sources read, and how long their outputs may be."""

    def __init__(self, model: Any, shape: MaskShape, device: torch.device, candidates: int) -> None:
        B, S = shape.sentences, shape.length
        # The model owns its recordings, not they the model: it must be free to go.
        self.shape, self.candidates, self._model = shape, candidates, weakref.ref(model)
        self.source = torch.zeros(B, S, dtype=torch.long, device=device)
        self.tokens = self.source
        self.token_mask = torch.ones(B, S, dtype=torch.bool, device=device)
        self.memory: Any = None
        self.lengths = self.chances = torch.zeros(0)  # (B, candidates)
        self._graphs = {}

    @property
    def size(self) -> int:
        """Bytes held."""
        return sum(each.nbytes for pair in self.memory.projected for each in pair)

    @property
    def parts(self) -> dict[str, Callable[[], None]]:
        """What is recorded."""
        return {"read": self._read}

    def take(self, source: Tensor, token_mask: Tensor) -> None:
        """Read sources (b, S); the rows without one see something, so that they hold numbers."""
        b, S = source.shape
        self.token_mask.zero_()
        self.token_mask[b:, 0] = True
        self.token_mask[:b, :S] = token_mask
        self.source[:b, :S] = source
        self.run("read")

    def _read(self) -> None:
        model = self._model()
        assert model is not None, "whoever decodes holds it"
        memory = model.encode(self.source, self.token_mask, is_alone=True)
        self.lengths, self.chances = likely_lengths(model, memory, self.candidates)
        self.memory = model.ready(memory).select(candidate_rows(self.lengths))


class FillingRecording(CapturedGraph):
    """All passes over the outputs of recorded sources."""

    def __init__(
        self,
        model: Any,
        shape: MaskShape,
        device: torch.device,
        filling: MaskPredictState,
        sources: SourceRecording,
        pool: Any = None,
    ) -> None:
        rows = shape.sentences * sources.candidates
        self.shape, self.filling, self.sources, self.pool = shape, filling, sources, pool
        self._model = weakref.ref(model)
        self.never = filling.struck_out(device)
        self.tokens = torch.zeros(rows, shape.width, dtype=torch.long, device=device)
        self.found = torch.zeros(0)  # (R, 2 + T) all outputs, summed up
        self._graphs = {}

    @property
    def size(self) -> int:
        """Bytes held; what it needs on the way is shared by all recordings of its kind."""
        return self.tokens.nbytes + self.found.nbytes

    @property
    def parts(self) -> dict[str, Callable[[], None]]:
        """What is recorded."""
        return {"fill": self._fill}

    def _fill(self) -> None:
        model = self._model()
        assert model is not None, "whoever decodes holds it"
        lengths = self.sources.lengths.flatten().clamp_max(self.shape.width)  # rows without a sentence may be longer
        filled = model, self.sources.memory, lengths, self.shape.width, self.filling, self.never
        self.tokens, sure = fill_in(*filled, is_alone=True)
        self.found = summary(self.tokens, sure, self.sources.lengths, self.sources.chances)


def recorded_mask_predict(
    model: ConditionalMaskedLM,
    source: Tensor,
    token_mask: Tensor,
    ends: SpecialTokens,
    settings: MaskPredictDecodeSettings,
) -> list[list[Hypothesis]] | None:
    """Return what `mask_predict` would; None where a shape is new, too large, or memory too short to record it."""
    recordings = recordings_of(model)
    (B, S), bound = source.shape, model.max_positions
    most = padded_to_bucket(S) if bound is None else min(padded_to_bucket(S), bound)
    shape = MaskShape(padded_to_bucket(B, finest=1), most)
    rows = shape.sentences * settings.length_candidates
    if rows * shape.length > LARGEST or recordings.is_new((shape, settings)):
        return None
    sources = recordings.of(SourceRecording, shape, settings.length_candidates)
    if sources is None:
        return None
    sources.take(source, token_mask)
    width = padded_to_bucket(int(sources.lengths[:B].max()))
    shape = MaskShape(shape.sentences, shape.length, width if bound is None else min(width, bound))
    if rows * shape.width > LARGEST:
        return None
    filling = MaskPredictState.of(ends, settings)
    filled = recordings.of(FillingRecording, shape, filling, sources, _pool(recordings, source.device))
    if filled is None:
        return None
    filled.run("fill")
    candidates = sources.lengths.size(1)
    return in_order(filled.found[: B * candidates], candidates, settings.collapse_repeats)


def _pool(recordings: Recordings, device: torch.device) -> Any:
    """Return where all graphs of passes have what they need on the way: they run one after the other."""
    if device.type == "cuda" and recordings.pool is None:
        recordings.pool = torch.cuda.graph_pool_handle()
    return recordings.pool
