"""Decoding as a tree: every continuation that a search has considered, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from regard.cancellation import end_if_cancelled
from regard.decoding.generate import generate
from regard.decoding.logits.coverage import Coverage
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam import BeamSearch
from regard.decoding.search.beam_state import BeamState, Candidates, Moves
from regard.decoding.search.mask_predict import MaskPredictStep, mask_predict
from regard.decoding.search.running import RunningRequest
from regard.decoding.session import GenerationJob
from regard.decoding.settings import GenerationSettings, MaskPredictDecoding, TranslationDecoding, length_penalty
from regard.decoding.steppers.interface import Hypothesis, Request, padded

Fate = Literal["kept", "finished", "pruned", "outscored", "stopped"]
"""kept: extended at the next step; finished: EOS; pruned: not among the best `beam_size`; outscored: it ended, but
finished hypotheses score better; stopped: active when the search ended."""


@dataclass
class Node:
    """A hypothesis in a search: one more token than its parent (-1: the root)."""

    id: int
    parent: int
    step: int
    token: int
    rank: int
    log_probability: float
    """The sum over its tokens, with repetition penalty."""
    score: float
    """With length and coverage penalties."""
    fate: Fate


class RecordedState(BeamState):
    """A beam state that keeps the candidates of its first request as nodes."""

    nodes: list[Node]
    active: dict[int, int]
    """The node of each active hypothesis, by rank."""

    def admit(self, queue: Sequence[RunningRequest]) -> None:
        """Add the request."""
        super().admit(queue)
        self.nodes, self.active = [], {0: -1}

    def advance(self, candidates: Candidates) -> Moves | None:
        """Advance, and add a node for each candidate."""
        running, step = self.alive[0], int(self.history.lengths[0]) + 1
        before = {id(each) for each in running.hypotheses}
        pasts = {rank: tuple(self.history.ids(rank)) for rank in self.active}
        moves = super().advance(candidates)
        finished = [each for each in running.hypotheses if id(each) not in before and each.finish_reason == "eos"]
        ended = {(tuple(each.ids), round(each.score, 9)) for each in finished}
        penalty, active, kept = length_penalty(self.settings, step), dict[int, int](), 0
        size = self.settings.beam_size
        for rank, (origin, token, total) in enumerate(
            zip(
                candidates.origins[0].tolist(),
                candidates.tokens[0].tolist(),
                candidates.totals[0].tolist(),
                strict=True,
            )
        ):
            if total == float("-inf") or origin not in self.active:
                continue
            score = total / penalty + float(candidates.coverage[0, origin])
            fate: Fate = "pruned"
            if token == self.eos_id:
                is_best = (pasts[origin], round(score, 9)) in ended
                fate = "finished" if is_best else "outscored" if rank < size else "pruned"
            elif kept < size:
                fate = "kept"
                active[kept] = len(self.nodes)
                kept += 1
            self.nodes.append(Node(len(self.nodes), self.active[origin], step, token, rank, total, score, fate))
        if moves is None:
            for number in active.values():
                self.nodes[number].fate = "stopped"
        self.active = active
        return moves


class RecordedSearch(BeamSearch):
    """A beam search with a recorded state."""

    state_class: ClassVar[type[BeamState]] = RecordedState

    @property
    def nodes(self) -> list[Node]:
        """The nodes so far."""
        assert isinstance(self.recorded, RecordedState)
        return self.recorded.nodes

    def step(self, queue: Sequence[RunningRequest]) -> None:
        """Take one step; the state is kept after the last one too."""
        if not queue:
            self.recorded = self._state
        super().step(queue)
        if queue:
            self.recorded = self._state


@dataclass(frozen=True)
class SearchTree:
    """The nodes of a search, and its hypotheses, best first."""

    nodes: list[Node]
    hypotheses: list[Hypothesis]


@torch.inference_mode()
def search_tree(job: GenerationJob, request: Request) -> SearchTree:
    """Return the tree of one request: of a beam search all candidates, of sampling and greedy search the outputs."""
    settings = job.settings
    assert isinstance(settings, GenerationSettings), "mask-predict has passes"
    if settings.method == "beam" and settings.beam_size > 1:
        return _beam_tree(job, request, settings)
    hypotheses = list(generate(job, [request])[0])
    return SearchTree(_trie(hypotheses, settings, job.ends.eos_id), hypotheses)


def _beam_tree(job: GenerationJob, request: Request, settings: GenerationSettings) -> SearchTree:
    coverage = None
    if isinstance(settings, TranslationDecoding) and settings.coverage_penalty:
        weight = settings.coverage_penalty
        coverage = lambda: Coverage(job.models, weight)
    processor = LogitsProcessor(settings, job.ends, job.models[0].head.weight)
    search = RecordedSearch(job.stepper, processor, job.text_of if settings.stop else None, coverage)
    running = RunningRequest(request)
    with job.working(1):
        search.step([running])
        while not running.is_done:
            end_if_cancelled()
            search.step([])
    return SearchTree(search.nodes, running.hypotheses)


def _trie(hypotheses: Sequence[Hypothesis], settings: GenerationSettings, eos_id: int) -> list[Node]:
    nodes: dict[tuple[int, ...], Node] = {}
    for rank, each in enumerate(hypotheses):
        ids = (*each.ids, eos_id) if each.finish_reason == "eos" else tuple(each.ids)
        total = 0.0
        for step, (token, value) in enumerate(zip(ids, each.token_log_probabilities, strict=False), start=1):
            total += value
            parent = nodes[ids[: step - 1]].id if step > 1 else -1
            fate: Fate = "finished" if step == len(ids) else "kept"
            score = total / length_penalty(settings, step)
            nodes.setdefault(ids[:step], Node(len(nodes), parent, step, token, rank, total, score, fate))
    return list(nodes.values())


@dataclass(frozen=True)
class Pass:
    """One length candidate after one iteration of mask-predict."""

    iteration: int
    candidate: int
    tokens: list[int]
    log_probabilities: list[float]
    masked: list[bool]
    """True where this iteration predicted the token."""


@torch.inference_mode()
def mask_predict_passes(job: GenerationJob, request: Request) -> tuple[list[Pass], list[Hypothesis]]:
    """Return every pass of mask-predict over the output of one request, and its hypotheses, best first."""
    (model, *_), settings = job.models, job.settings
    assert isinstance(settings, MaskPredictDecoding), "token by token there are no passes"
    passes: list[Pass] = []

    def watch(step: MaskPredictStep) -> None:
        number = 1 + max((each.iteration for each in passes), default=0)
        for row, (tokens, confidence, masked) in enumerate(zip(step.tokens, step.sure, step.masked, strict=True)):
            length = int((confidence != torch.inf).sum())
            values = [tokens[:length].tolist(), confidence[:length].tolist(), masked[:length].tolist()]
            passes.append(Pass(number, row, *values))

    source, token_mask = padded([request], 0, model.head.weight.device, is_left=False)
    with job.working(1, len(request.ids)):
        (hypotheses,) = mask_predict(model, source, token_mask, job.ends, settings, watch)
    return passes, hypotheses
