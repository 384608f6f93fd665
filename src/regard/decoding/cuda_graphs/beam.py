"""Beam search of which all but the books is recorded: the device goes on by itself, two steps ahead of the books.

What runs on is decided by the device alone, from the candidates; the books follow from the same candidates and only
find out what is finished. A sentence that is done goes on unheeded, until most have come so far.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.decoding.cuda_graphs.capture import CapturedGraph, GraphKey, recordings_of
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam_state import BeamState, Candidates
from regard.decoding.steppers.interface import Hypothesis
from regard.nn.kernels.availability import has_triton

AHEAD = 2
"""Steps the device is asked for before the books are brought up to date."""
LARGEST_FUSED = 65536
"""Tokens of a vocabulary up to which one kernel can choose among them."""


@dataclass(frozen=True)
class Rules:
    """What decides which candidates there are; few enough that a recording for each is affordable."""

    beam_size: int
    bos_id: int
    eos_id: int
    never: tuple[int, ...]
    min_length: int

    @classmethod
    def of(cls, constraints: LogitsProcessor, vocabulary: int) -> "Rules | None":
        """Return the rules of a search, None if it has others than these, or fewer tokens than candidates."""
        settings, ends = constraints.settings, constraints.ends
        has_others = settings.no_repeat_ngram_size or constraints.changes_values or constraints.prefix_steps
        are_enough = 2 * settings.beam_size + len(ends.never) < vocabulary
        if has_others or settings.coverage_penalty or settings.beam_size == 1 or not are_enough:
            return None
        return cls(settings.beam_size, ends.bos_id, ends.eos_id, ends.never, settings.min_length)


def candidates(logits: Tensor, so_far: Tensor, said: Tensor, never: Tensor, rules: Rules) -> tuple[Tensor, ...]:
    """Return totals, origins and tokens (B, 2 * beams) of the best continuations of hypotheses (B, H), best first."""
    count, B = 2 * rules.beam_size, so_far.size(0)
    log_p = logits.log_softmax(1).index_fill_(1, never, -torch.inf)  # (B * H, V)
    if rules.min_length > 1:
        log_p[:, rules.eos_id].masked_fill_(said + 1 < rules.min_length, -torch.inf)
    values, tokens = log_p.topk(count, dim=1)  # no hypothesis can have more among the best of its sentence
    totals, places = (values.view(B, -1, count) + so_far[:, :, None]).flatten(1).topk(count, dim=1)
    return totals, places // count, tokens.view(B, -1).gather(1, places)


def can_fuse(logits: Tensor) -> bool:
    """Tell whether kernels of our own choose among these."""
    is_ours = logits.is_cuda and logits.dtype == torch.float32 and logits.size(1) <= LARGEST_FUSED
    return is_ours and has_triton()


class BeamRecording(CapturedGraph):
    """A step, its best candidates, and the choice of those that run on: ready for the next step."""

    def __init__(self, model: Any, shape: GraphKey, device: torch.device, rules: Rules) -> None:
        super().__init__(model, shape, device)
        B, beam_size, count = shape.sentences, rules.beam_size, 2 * rules.beam_size
        self.rules = rules
        self.source = torch.zeros(B, shape.length, dtype=torch.long, device=device)
        self.token_mask = torch.ones(B, shape.length, dtype=torch.bool, device=device)
        self.never = torch.tensor(rules.never, dtype=torch.long, device=device)
        self.so_far = torch.zeros(B, beam_size, device=device)
        self.said = torch.zeros((), dtype=torch.long, device=device)
        self.first = torch.arange(B, device=device)[:, None] * beam_size  # each sentence's first row
        self.ranks = torch.arange(count, device=device)
        self.found = torch.zeros(B, 3, count, device=device)
        # Pinned, so that it arrives while the device works.
        self.arrived = torch.zeros(shape.steps, B, 3, count, pin_memory=device.type == "cuda")
        self.read = self.arrived.numpy()  # the same memory
        self.events = [torch.cuda.Event() for _ in range(AHEAD)] if device.type == "cuda" else []

    @property
    def parts(self) -> dict[str, Callable[[], None]]:
        """What is recorded, by name, in the order in which it is done."""
        return {"begin": self._begin, "step": self._step}

    def take(self, source: Tensor, token_mask: Tensor) -> None:
        """Take in sources (b, S); the rows without one see something, so that they hold numbers."""
        b, S = source.shape
        self.token_mask.zero_()
        self.token_mask[b:, 0] = True
        self.token_mask[:b, :S] = token_mask
        self.source[:b, :S] = source
        self.run("begin")

    def _begin(self) -> None:
        """Read the sources; of each sentence's hypotheses only the first may be gone on from."""
        self.static_state.begin(self.source, self.token_mask)
        self.tokens.fill_(self.rules.bos_id)
        self.order.copy_(self.identity)
        self.so_far.fill_(-torch.inf)
        self.so_far[:, 0] = 0
        self.said.zero_()

    def _step(self) -> None:
        logits = self.static_state.step(self.tokens, self.order)
        if can_fuse(logits):
            from regard.decoding.kernels.beam_select import Books, select  # the compiler takes a second to load

            books = Books(self.so_far, self.said, self.never, self.order, self.tokens, self.found)
            select(logits, books, self.rules.eos_id, self.rules.min_length)
        else:
            self._select(logits)
        self.said += 1

    def _select(self, logits: Tensor) -> None:
        """Choose what runs on, and say what was found, in place."""
        beam_size = self.rules.beam_size
        totals, origins, tokens = candidates(logits, self.so_far, self.said, self.never, self.rules)
        self.found.copy_(torch.stack((totals, origins.float(), tokens.float()), dim=1))
        is_end = tokens == self.rules.eos_id
        chosen = (is_end * len(self.ranks) + self.ranks).topk(beam_size, dim=1, largest=False).indices
        self.so_far.copy_(totals.masked_fill(is_end, -torch.inf).gather(1, chosen))
        self.order.view(-1, beam_size).copy_(self.first + origins.gather(1, chosen))
        self.tokens.view(-1, beam_size).copy_(tokens.gather(1, chosen))


def recorded_beam_search(
    model: Any, source: Tensor, token_mask: Tensor, limits: Sequence[int], constraints: LogitsProcessor, rules: Rules
) -> list[list[Hypothesis]] | None:
    """Return what `beam_search` would; None if memory is too short for recordings."""
    ledger = BeamState(limits, constraints)
    search = _Search(model, source, ledger, rules)
    return ledger.finished if search.run(source, token_mask, max(limits)) else None


class _Search:
    """The device's side of a search, and how what it finds gets into the books."""

    def __init__(self, model: Any, source: Tensor, ledger: BeamState, rules: Rules) -> None:
        self.ledger, self.rules = ledger, rules
        self.recordings, self.bound = recordings_of(model, may_have_moved=False), model.max_positions
        self.length, self.device = source.size(1), source.device
        self.rows = np.arange(len(source))  # of the recording, one for each sentence that is not done
        self.taken = 0  # steps asked for
        self.since = self.left = 0  # steps since the recording was loaded, and steps it has room for
        self.underway: deque[int] = deque()
        self.uncovered = np.zeros((len(source), rules.beam_size))

    def run(self, source: Tensor, token_mask: Tensor, limit: int) -> bool:
        """Search to the end; False if memory was too short to begin."""
        now = self._recording(len(source))
        if now is None:
            return False
        now.take(source, token_mask)
        self.left = now.shape.steps
        while self.ledger.alive:
            must_move = not self.left or now.shape.is_too_large_for(len(self.rows))
            if must_move and not self.underway:
                now = self._move(now)
            elif must_move or len(self.underway) == AHEAD or self.taken == limit:
                self._take(now)
            else:
                now.run()
                self._send(now)
        return True

    def _recording(self, sentences: int) -> BeamRecording | None:
        shape = GraphKey.around(sentences, self.length, self.rules.beam_size, self.taken)
        if self.bound is not None:
            shape = replace(shape, length=min(shape.length, self.bound))
        return self.recordings.of(BeamRecording, shape, self.rules)

    def _send(self, now: BeamRecording) -> None:
        """Let the candidates of this step go to the books."""
        now.arrived[self.since].copy_(now.found, non_blocking=True)
        if now.events:
            now.events[self.since % AHEAD].record()
        self.underway.append(self.since)
        self.taken, self.since, self.left = self.taken + 1, self.since + 1, self.left - 1

    def _take(self, now: BeamRecording) -> None:
        """Wait for the candidates of the oldest step under way, and enter them into the books."""
        slot = self.underway.popleft()
        if now.events:
            now.events[slot % AHEAD].synchronize()
        arrived = now.read[slot][self.rows]
        totals, places = arrived[:, 0].astype(np.float64), arrived[:, 1:].astype(np.int64)
        found = Candidates(totals, totals, places[:, 0], places[:, 1], self.uncovered[: len(self.rows)])
        moves = self.ledger.take(found)
        if moves is not None:
            self.rows = self.rows[moves.staying]

    def _move(self, now: BeamRecording) -> BeamRecording:
        """Go on in another recording, with room for more steps or fewer sentences."""
        beam_size, count = self.rules.beam_size, len(self.rows)
        rows = torch.from_numpy(self.rows).to(self.device)
        memory, state = now.static_state.unload(rows, self.since)
        own = now.order.view(-1, beam_size)[rows] % beam_size
        state = state.select((torch.arange(count, device=self.device)[:, None] * beam_size + own).flatten())
        tokens, so_far, said = now.tokens.view(-1, beam_size)[rows], now.so_far[rows], now.said.clone()
        other = self._recording(count)
        if other is None:
            raise torch.OutOfMemoryError(f"No memory for {count} sentences with {beam_size} hypotheses each.")
        other.tokens.view(-1, beam_size)[:count] = tokens
        other.so_far[:count] = so_far
        other.said.copy_(said)
        other.order.copy_(other.identity)
        self.left = other.static_state.load(memory, state)
        self.rows, self.since = np.arange(count), 0
        return other
