"""Attention step by step: every intermediate value of one layer, recorded from the calls that compute it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.inspection.interventions import attention_path
from regard.inspection.record import exclusive
from regard.nn.attention.attention import Attention, View, combined_mask, for_heads
from regard.nn.blocks import FeedForward, Residual
from regard.nn.probes.calls import RecordedCall, recording_calls
from regard.nn.probes.probe import Listener, listening


@dataclass(frozen=True)
class AttentionSteps:
    """The values of one attention layer for one sequence: heads (H, ...), positions T and S, widths D, K and F."""

    embedded: Tensor | None  # (T, D) word vectors, scaled, before positions
    positions: Tensor | None  # (T, D) what positions add
    given: Tensor  # (T, D) the input of the block
    normed: Tensor | None  # (T, D) where the norm comes first
    query: Tensor  # (H, T, K)
    key: Tensor  # (H, S, K)
    value: Tensor  # (H, S, K)
    products: Tensor  # (H, T, S) q kᵀ
    scores: Tensor  # (H, T, S) divided by √K, with the bias of positions
    mask: Tensor | None  # (T, S) True = attend
    weights: Tensor  # (H, T, S)
    heads: Tensor  # (H, T, K) weighted sums
    output: Tensor  # (T, D) after W_O
    attended: Tensor  # (T, D) after add & norm
    inner: Tensor  # (T, F) the activations of the feed-forward sublayer
    outer: Tensor  # (T, D)
    result: Tensor  # (T, D) the output of the block
    is_rotated: bool
    """Queries and keys are rotated by their positions."""

    @property
    def masked(self) -> Tensor:
        """The scores (H, T, S), -inf where masked."""
        return self.scores if self.mask is None else self.scores.masked_fill(~self.mask, -torch.inf)


@torch.inference_mode()
def record_steps(model: nn.Module, kind: str, layer: int, run: Callable[[], object]) -> AttentionSteps:
    """Return the steps of one attention layer while `run` passes one sequence through the model."""
    path = attention_path(model, kind, layer)
    attention = model.get_submodule(path)
    if not isinstance(attention, Attention):
        raise ConfigError(
            f"{kind}: this attention has no queries, keys and values; use a Transformer, a GPT or a BERT."
        )
    block, name = model.get_submodule(path.rpartition(".")[0]), path.rpartition(".")[2]
    around, beside = getattr(block, f"around_{name}"), block.get_submodule("around_feed_forward")
    feed_forward = block.get_submodule("feed_forward")
    assert isinstance(around, Residual) and isinstance(beside, Residual) and isinstance(feed_forward, FeedForward)
    stack = model.get_submodule(path.partition(".blocks.")[0]) if not path.startswith("blocks.") else model
    embedding = stack.get_submodule("embedding")
    methods = {
        "table": (embedding.get_submodule("table"), "forward"),
        "embed": (embedding.get_submodule("positions"), "embed"),
        "attend": (attention, "attend"),
        "join": (attention, "join"),
        "around": (around, "forward"),
        "norm": (around.norm, "forward"),
        "feed_forward": (feed_forward, "forward"),
        "activated": (feed_forward, "_activated"),
        "beside": (beside, "forward"),
    }
    weights: list[Tensor] = []
    listeners: dict[object, Listener] = {attention.weights: partial(_keep, weights)}
    with exclusive(model), recording_calls(methods) as calls, listening(listeners):  # type: ignore[arg-type]
        run()
    return _steps(calls, weights[-1], around.order == "pre")


def _keep(kept: list[Tensor], value: Tensor) -> None:
    kept.append(value)


def _steps(calls: dict[str, list[RecordedCall]], weights: Tensor, is_pre: bool) -> AttentionSteps:
    last = {name: made[-1] for name, made in calls.items() if made}
    query, key, value = (last["attend"].tensor(number)[0].float() for number in range(3))
    view = last["attend"].arguments[3]
    assert isinstance(view, View)
    key, value = (for_heads(each[None], query.size(0))[0] for each in (key, value))
    products = query @ key.transpose(-2, -1)
    scores = products / query.size(-1) ** 0.5
    if view.bias is not None:
        scores = scores + view.bias.float().expand(1, *scores.shape)[0]
    mask = combined_mask(view, query.size(1), key.size(1), query.device)
    shown = None if mask is None else mask.expand(1, 1, query.size(1), key.size(1))[0, 0]
    embed = last["embed"]
    before, after = embed.tensor(0)[0].float(), embed.tensor()[0].float()
    # Rotary and relative schemes add nothing here.
    added = after - before if after.shape == before.shape and not torch.equal(after, before) else None
    first = lambda name, argument=None: last[name].tensor(argument)[0].float()
    return AttentionSteps(
        embedded=before,
        positions=added,
        given=first("around", 0),
        normed=first("norm") if is_pre else None,
        query=query,
        key=key,
        value=value,
        products=products,
        scores=scores,
        mask=None if shown is None or bool(shown.all()) else shown,
        weights=weights[0].float(),
        heads=first("attend"),
        output=first("join"),
        attended=first("around"),
        inner=first("activated"),
        outer=first("feed_forward"),
        result=first("beside"),
        is_rotated=view.rotation is not None,
    )
