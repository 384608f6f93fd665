"""Heads ranked by their effect: the loss on a sample of validation without each of them."""

from torch import nn

from regard.cancellation import end_if_cancelled
from regard.errors import ConfigError
from regard.inspection.interventions import Edit, attention_path, edited
from regard.nn.attention.attention import Attention
from regard.nn.probes.trace import KINDS
from regard.pipelines.base import AnyPipeline
from regard.runs.store.folder import read_record
from regard.studio.messages import ModelRequest, StudioMessage
from regard.studio.views.models import body_of
from regard.tasks.contract import find_task

MOST_EXAMPLES = 64
"""Examples of validation that a ranking may use."""


class RankingRequest(ModelRequest):
    """A number of examples of validation: sentences, rows, or windows of text."""

    examples: int = 16


class HeadEffect(StudioMessage):
    """A head, and how much higher the loss is without it."""

    kind: str
    layer: int
    head: int
    effect: float


class RankingView(StudioMessage):
    """All heads, the most important first."""

    loss: float
    """With all heads."""
    unit: str
    """The unit that the loss is a mean over: "target token", "label"."""
    examples: int
    heads: list[HeadEffect]


def rank_heads(pipeline: AnyPipeline, request: RankingRequest) -> RankingView:
    """Return all heads of a model by the loss without each of them, over a sample of its validation data."""
    if not 1 <= request.examples <= MOST_EXAMPLES:
        raise ConfigError(f"examples: {request.examples} is out of range; choose 1 to {MOST_EXAMPLES}.")
    body = body_of(pipeline)
    heads = heads_of(body)
    if not heads:
        raise ConfigError(f"{request.model}: this model has no attention heads to rank; choose another one.")
    record = read_record(pipeline.origin)
    if record is None:
        raise ConfigError(f"{pipeline.origin}: this model has no run, and so no validation data; choose a run.")
    task = find_task(record.task)
    sample = task.sample_loss(pipeline, record, request.examples)
    before = sample.compute()
    effects = []
    for kind, layer, head in heads:
        end_if_cancelled()
        with edited(body, [Edit(kind, layer, head)]):
            effects.append(HeadEffect(kind=kind, layer=layer, head=head, effect=sample.compute() - before))
    effects.sort(key=lambda each: -each.effect)
    return RankingView(loss=before, unit=task.loss_curve.unit, examples=sample.examples, heads=effects)


def heads_of(model: nn.Module) -> list[tuple[str, int, int]]:
    """Return kind, layer and number of every head that can be switched off."""
    heads = []
    for kind in KINDS:
        for layer in range(1024):
            try:
                attention = model.get_submodule(attention_path(model, kind, layer))
            except ConfigError:
                break
            if not isinstance(attention, Attention):
                break
            heads += [(kind, layer, head) for head in range(attention.head_count)]
    return heads
