"""Decoding as a tree: hypotheses with their scores, where each was pruned and by what; and passes of mask-predict."""

from dataclasses import replace
from math import exp

from pydantic import Field
from torch import Tensor

from regard.decoding.distribution import next_distribution
from regard.decoding.session import GenerationJob
from regard.decoding.settings import GenerationSettings
from regard.decoding.steppers.interface import Hypothesis, Request
from regard.decoding.tree import Fate, mask_predict_passes, search_tree
from regard.errors import ConfigError
from regard.pipelines.base import AnyPipeline
from regard.pipelines.inputs import as_row
from regard.studio.messages import ModelRequest, StudioMessage, TokenCandidate
from regard.studio.views.models import generating, tokenizer_of
from regard.text.prefix import exact_prefix
from regard.text.readable import readable
from regard.text.tokenizer import Tokenizer

LARGEST = 20_000
"""Nodes that one answer holds."""
MOST_TOKENS = 4096
"""New tokens of one output."""
OptionValue = str | int | float | bool | None


class TreeRequest(ModelRequest):
    """An input, options of the call by name, and output ids that are forced."""

    text: str
    options: dict[str, OptionValue] = Field(default_factory=dict)
    prefix: tuple[int, ...] = ()


class TreeNode(StudioMessage):
    """A hypothesis: one token more than its parent (-1: the root)."""

    id: int
    parent: int
    step: int
    token: str
    token_id: int
    rank: int
    probability: float
    """Of the token, given those before it."""
    log_probability: float
    score: float
    """The log probability divided by the length penalty, coverage added."""
    fate: Fate


class TreeHypothesis(StudioMessage):
    """A finished output."""

    text: str
    tokens: list[str]
    token_ids: list[int]
    log_probability: float
    score: float
    finish_reason: str


class MaskPass(StudioMessage):
    """A length candidate after an iteration of mask-predict."""

    iteration: int
    candidate: int
    tokens: list[str]
    probabilities: list[float]
    masked: list[bool]


class TreeView(StudioMessage):
    """A search as a tree, or the passes of mask-predict."""

    nodes: list[TreeNode]
    passes: list[MaskPass]
    hypotheses: list[TreeHypothesis]
    method: str
    beam_size: int
    forced: int
    """Tokens at the beginning that were forced."""


class AlternativesRequest(ModelRequest):
    """An input, and the output ids before the token in question."""

    text: str
    prefix: list[int]
    top: int = 12


class AlternativesView(StudioMessage):
    """The most probable tokens at one position, best first."""

    candidates: list[TokenCandidate]


def prepared(
    pipeline: AnyPipeline, text: str, options: dict[str, OptionValue], prefix: list[int]
) -> tuple[GenerationJob, Request]:
    """Return the job and the request of one input, with output ids that are forced."""
    generator = generating(pipeline)
    chosen = generator.options(None, **options)
    row = as_row(generator.row, generator.inputs, text, "text")
    request = generator.request(row, chosen)
    if request is None:
        raise ConfigError("text: it is empty; write a sentence.")
    if request.limit > MOST_TOKENS:
        raise ConfigError(
            f"max_new_tokens: {request.limit:,} is more than the {MOST_TOKENS:,} of one picture; lower it."
        )
    if prefix:
        request = replace(request, prefix=exact_prefix(prefix), limit=max(request.limit, len(prefix) + 1))
    return generator.job(chosen), request


def show_tree(pipeline: AnyPipeline, request: TreeRequest) -> TreeView:
    """Return every continuation that the search has considered."""
    job, one = prepared(pipeline, request.text, request.options, list(request.prefix))
    tokenizer = tokenizer_of(pipeline)
    with generating(pipeline).locked():
        if not isinstance(job.settings, GenerationSettings):
            return _passes(job, one, tokenizer)
        tree = search_tree(job, one)
    if len(tree.nodes) > LARGEST:
        raise ConfigError(f"beam_size: the tree has {len(tree.nodes):,} nodes; lower the beam size or the length.")
    tokens = readable(tokenizer.tokens(each.token for each in tree.nodes))
    totals = {-1: 0.0} | {each.id: each.log_probability for each in tree.nodes}
    return TreeView(
        nodes=[
            TreeNode(
                id=each.id,
                parent=each.parent,
                step=each.step,
                token=token,
                token_id=each.token,
                rank=each.rank,
                probability=min(1.0, exp(each.log_probability - totals[each.parent])),
                log_probability=each.log_probability,
                score=each.score,
                fate=each.fate,
            )
            for each, token in zip(tree.nodes, tokens, strict=True)
        ],
        passes=[],
        hypotheses=[_hypothesis(each, tokenizer) for each in tree.hypotheses],
        method=job.settings.method,
        beam_size=job.settings.hypotheses,
        forced=len(request.prefix),
    )


def _passes(job: GenerationJob, request: Request, tokenizer: Tokenizer) -> TreeView:
    passes, hypotheses = mask_predict_passes(job, request)
    return TreeView(
        nodes=[],
        passes=[
            MaskPass(
                iteration=each.iteration,
                candidate=each.candidate,
                tokens=readable(tokenizer.tokens(each.tokens)),
                probabilities=[exp(min(0.0, value)) for value in each.log_probabilities],
                masked=each.masked,
            )
            for each in passes
        ],
        hypotheses=[_hypothesis(each, tokenizer) for each in hypotheses],
        method="mask-predict",
        beam_size=job.settings.hypotheses,
        forced=0,
    )


def _hypothesis(each: Hypothesis, tokenizer: Tokenizer) -> TreeHypothesis:
    return TreeHypothesis(
        text=tokenizer.decode(each.ids),
        tokens=readable(tokenizer.tokens(each.ids)),
        token_ids=list(each.ids),
        log_probability=each.log_probability,
        score=each.score,
        finish_reason=each.finish_reason,
    )


def show_alternatives(pipeline: AnyPipeline, request: AlternativesRequest) -> AlternativesView:
    """Return the most probable tokens after some output ids."""
    job, one = prepared(pipeline, request.text, {}, [])
    with generating(pipeline).locked():
        distribution = next_distribution(job, one, request.prefix)
    return AlternativesView(candidates=candidates_of(distribution, tokenizer_of(pipeline), request.top))


def candidates_of(distribution: Tensor, tokenizer: Tokenizer, top: int) -> list[TokenCandidate]:
    """Return the most probable tokens of a distribution (V,), best first."""
    best = distribution.topk(max(1, min(top, distribution.size(0))))
    ids = [number for number in best.indices.tolist() if number < tokenizer.id_limit]
    tokens = readable(tokenizer.tokens(ids))
    return [
        TokenCandidate(id=number, token=token, probability=value)
        for number, token, value in zip(ids, tokens, best.values.tolist(), strict=False)
    ]
