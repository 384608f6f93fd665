"""Beam search in CUDA graphs: the device selects hypotheses itself and runs two steps ahead of the host.

The device alone selects the active hypotheses; the host updates its `BeamState` from the same candidates, and only
determines which sentences are finished. A finished sentence keeps its rows until most sentences are finished.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.decoding.cuda_graphs.capture import CapturedGraph, GraphKey, graph_cache
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam_state import BeamState, Candidates
from regard.decoding.search.running import RunningRequest
from regard.decoding.settings import TranslationDecoding
from regard.decoding.steppers.interface import Request, padded
from regard.nn.kernels.availability import has_triton

AHEAD = 2
"""Steps that are launched before the host processes their candidates."""
LARGEST_FUSED = 65536
"""Largest vocabulary, in tokens, of the fused selection kernel."""


@dataclass(frozen=True)
class Rules:
    """The settings that determine the candidates; part of a graph's key."""

    beam_size: int
    bos_id: int
    eos_id: int
    never: tuple[int, ...]
    min_length: int

    @classmethod
    def of(cls, processor: LogitsProcessor, requests: Sequence[Request], vocabulary: int) -> "Rules | None":
        """Return the rules of a search; None if it has other constraints, or more candidates than tokens."""
        settings, ends = processor.settings, processor.ends
        is_constrained = settings.no_repeat_ngram_size or processor.changes_values or settings.stop
        covers = isinstance(settings, TranslationDecoding) and settings.coverage_penalty > 0
        are_enough = 2 * settings.beam_size + len(ends.never) < vocabulary
        if is_constrained or covers or settings.beam_size == 1 or not are_enough or any(r.prefix for r in requests):
            return None
        return cls(settings.beam_size, ends.bos_id, ends.eos_id, ends.never, settings.shortest)


def candidates(logits: Tensor, before: Tensor, length: Tensor, never: Tensor, rules: Rules) -> tuple[Tensor, ...]:
    """Return totals, origins and tokens (B, 2 * beam size) of the best continuations, best first.

    `before` (B, H) are the totals of the hypotheses, `length` () the number of their tokens.
    """
    count, B = 2 * rules.beam_size, before.size(0)
    log_p = logits.log_softmax(1).index_fill_(1, never, -torch.inf)  # (B * H, V)
    if rules.min_length > 1:
        log_p[:, rules.eos_id].masked_fill_(length + 1 < rules.min_length, -torch.inf)
    values, tokens = log_p.topk(count, dim=1)  # no hypothesis can contribute more
    totals, indices = (values.view(B, -1, count) + before[:, :, None]).flatten(1).topk(count, dim=1)
    return totals, indices // count, tokens.view(B, -1).gather(1, indices)


def can_fuse(logits: Tensor) -> bool:
    """Return True if the fused kernels support these logits."""
    is_supported = logits.is_cuda and logits.dtype == torch.float32 and logits.size(1) <= LARGEST_FUSED
    return is_supported and has_triton()


class BeamGraph(CapturedGraph):
    """A decoding step, its best candidates, and the selection of the hypotheses for the next step."""

    def __init__(self, model: Any, shape: GraphKey, device: torch.device, rules: Rules) -> None:
        super().__init__(model, shape, device)
        B, beam_size, count = shape.sentences, rules.beam_size, 2 * rules.beam_size
        self.rules = rules
        self.source = torch.zeros(B, shape.length, dtype=torch.long, device=device)
        self.token_mask = torch.ones(B, shape.length, dtype=torch.bool, device=device)
        self.never = torch.tensor(rules.never, dtype=torch.long, device=device)
        self.running_totals = torch.zeros(B, beam_size, device=device)
        self.generated = torch.zeros((), dtype=torch.long, device=device)
        self.first = torch.arange(B, device=device)[:, None] * beam_size  # the first row of each sentence
        self.ranks = torch.arange(count, device=device)
        self.candidates = torch.zeros(B, 3, count, device=device)
        # Pinned, so that copies overlap with computation.
        self.arrived = torch.zeros(shape.steps, B, 3, count, pin_memory=device.type == "cuda")
        self.arrived_array = self.arrived.numpy()  # the same memory
        self.events = [torch.cuda.Event() for _ in range(AHEAD)] if device.type == "cuda" else []

    @property
    def parts(self) -> dict[str, Callable[[], None]]:
        """The captured functions by name, in the order in which they run."""
        return {"begin": self._begin, "step": self._step}

    def take(self, source: Tensor, token_mask: Tensor) -> None:
        """Encode sources (b, S); unused rows attend to one position, so that no NaN arises."""
        b, S = source.shape
        self.token_mask.zero_()
        self.token_mask[b:, 0] = True
        self.token_mask[:b, :S] = token_mask
        self.source[:b, :S] = source
        self.run("begin")

    def _begin(self) -> None:
        """Encode the sources; of each sentence's hypotheses only the first is active."""
        self.static_state.begin(self.source, self.token_mask)
        self.tokens.fill_(self.rules.bos_id)
        self.order.copy_(self.identity)
        self.running_totals.fill_(-torch.inf)
        self.running_totals[:, 0] = 0
        self.generated.zero_()

    def _step(self) -> None:
        logits = self.static_state.step(self.tokens, self.order)
        if can_fuse(logits):
            from regard.decoding.kernels.beam_select import BeamBuffers, select  # Triton takes a second to load

            totals, length = self.running_totals, self.generated
            buffers = BeamBuffers(totals, length, self.never, self.order, self.tokens, self.candidates)
            select(logits, buffers, self.rules.eos_id, self.rules.min_length)
        else:
            self._select(logits)
        self.generated += 1

    def _select(self, logits: Tensor) -> None:
        """Write the candidates and the active hypotheses among them, in place."""
        beam_size = self.rules.beam_size
        totals, origins, tokens = candidates(logits, self.running_totals, self.generated, self.never, self.rules)
        self.candidates.copy_(torch.stack((totals, origins.float(), tokens.float()), dim=1))
        is_end = tokens == self.rules.eos_id
        chosen = (is_end * len(self.ranks) + self.ranks).topk(beam_size, dim=1, largest=False).indices
        self.running_totals.copy_(totals.masked_fill(is_end, -torch.inf).gather(1, chosen))
        self.order.view(-1, beam_size).copy_(self.first + origins.gather(1, chosen))
        self.tokens.view(-1, beam_size).copy_(tokens.gather(1, chosen))


def captured_beam_search(
    model: Any, requests: Sequence[Request], processor: LogitsProcessor, rules: Rules
) -> list[RunningRequest] | None:
    """Return the requests with the result of a `BeamSearch`; None if memory does not suffice for graphs."""
    state = BeamState(processor.settings, processor.ends.eos_id, has_prompts=False)
    running = [RunningRequest(each) for each in requests]
    state.admit(running)
    source, token_mask = padded(requests, 0, processor.device, is_left=False)
    search = _Search(model, source, state, rules)
    return running if search.run(source, token_mask, max(each.limit for each in requests)) else None


class _Search:
    """The device's side of a search, and the transfer of its candidates to the host's state."""

    def __init__(self, model: Any, source: Tensor, state: BeamState, rules: Rules) -> None:
        self.state, self.rules = state, rules
        self.graphs, self.bound = graph_cache(model, may_have_moved=False), model.max_positions
        self.length, self.device = source.size(1), source.device
        self.rows = np.arange(len(source))  # of the graph, one for each unfinished sentence
        self.taken = 0  # steps launched
        self.since = self.left = 0  # steps since the graph was loaded, and steps that still fit into it
        self.pending: deque[int] = deque()
        self.uncovered = np.zeros((len(source), rules.beam_size))

    def run(self, source: Tensor, token_mask: Tensor, limit: int) -> bool:
        """Search until all sentences are finished; False if memory does not suffice for the first graph."""
        graph = self._graph(len(source))
        if graph is None:
            return False
        graph.take(source, token_mask)
        self.left = graph.shape.steps
        while self.state.alive:
            must_move = not self.left or graph.shape.is_too_large_for(len(self.rows))
            if must_move and not self.pending:
                graph = self._move(graph)
            elif must_move or len(self.pending) == AHEAD or self.taken == limit:
                self._receive(graph)
            else:
                graph.run()
                self._send(graph)
        return True

    def _graph(self, sentences: int) -> BeamGraph | None:
        shape = GraphKey.around(sentences, self.length, self.rules.beam_size, self.taken)
        if self.bound is not None:
            shape = replace(shape, length=min(shape.length, self.bound))
        return self.graphs.of(BeamGraph, shape, self.rules)

    def _send(self, graph: BeamGraph) -> None:
        """Start the copy of this step's candidates to the host."""
        graph.arrived[self.since].copy_(graph.candidates, non_blocking=True)
        if graph.events:
            graph.events[self.since % AHEAD].record()
        self.pending.append(self.since)
        self.taken, self.since, self.left = self.taken + 1, self.since + 1, self.left - 1

    def _receive(self, graph: BeamGraph) -> None:
        """Wait for the candidates of the oldest pending step, and update the host's state."""
        slot = self.pending.popleft()
        if graph.events:
            graph.events[slot % AHEAD].synchronize()
        arrived = graph.arrived_array[slot][self.rows]
        totals, choices = arrived[:, 0].astype(np.float64), arrived[:, 1:].astype(np.int64)
        best = Candidates(totals, totals, choices[:, 0], choices[:, 1], self.uncovered[: len(self.rows)])
        moves = self.state.advance(best)
        if moves is not None:
            self.rows = self.rows[moves.staying]

    def _move(self, graph: BeamGraph) -> BeamGraph:
        """Return another graph, for more steps or fewer sentences, with the search moved into it."""
        beam_size, count = self.rules.beam_size, len(self.rows)
        rows = torch.from_numpy(self.rows).to(self.device)
        memory, state = graph.static_state.unload(rows, self.since)
        own = graph.order.view(-1, beam_size)[rows] % beam_size
        state = state.select((torch.arange(count, device=self.device)[:, None] * beam_size + own).flatten())
        tokens, totals = graph.tokens.view(-1, beam_size)[rows], graph.running_totals[rows]
        generated = graph.generated.clone()
        other = self._graph(count)
        if other is None:
            raise torch.OutOfMemoryError(f"No memory for {count} sentences with {beam_size} hypotheses each.")
        other.tokens.view(-1, beam_size)[:count] = tokens
        other.running_totals[:count] = totals
        other.generated.copy_(generated)
        other.order.copy_(other.identity)
        self.left = other.static_state.load(memory, state)
        self.rows, self.since = np.arange(count), 0
        return other
