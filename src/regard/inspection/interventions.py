"""Interventions on attention: heads and layers switched off, single weights overwritten, by listeners of probes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.inspection.record import exclusive
from regard.nn.attention.attention import Attention
from regard.nn.probes.probe import Listener, Probe, listening, probes
from regard.nn.probes.trace import KINDS


@dataclass(frozen=True)
class Edit:
    """One change to the attention of a layer: a head off, all heads off (head None), or one weight overwritten.

    `query` and `key` are positions; with a `weight` the others of the row keep their ratios and add up to 1 with it.
    """

    kind: str
    layer: int
    head: int | None = None
    query: int | None = None
    key: int | None = None
    weight: float | None = None

    @property
    def is_overwrite(self) -> bool:
        """True where it overwrites a weight."""
        return self.weight is not None


def attention_path(model: nn.Module, kind: str, layer: int) -> str:
    """Return the path of the attention of a layer; one that is not there is refused."""
    for pattern in KINDS.get(kind, ()):
        path = pattern.format(layer=layer).removesuffix(".weights")
        if f"{path}.weights" in probes(model):
            return path
    raise ConfigError(f"{kind}: this model has no {kind} attention in layer {layer}; choose another kind or layer.")


def overwritten(row: Tensor, key: int, weight: float) -> Tensor:
    """Return weights (..., S) with that of a key replaced, the others scaled so that they add up to 1."""
    others = row.clone()
    others[..., key] = 0
    rest = others.sum(-1, keepdim=True)
    count = max(1, row.size(-1) - 1)
    scaled = torch.where(rest > 0, others / rest.clamp_min(1e-12), (torch.ones_like(row) / count)) * (1 - weight)
    scaled[..., key] = weight
    return scaled


@contextmanager
def edited(
    model: nn.Module, edits: Sequence[Edit], record: dict[str, Tensor] | None = None, is_repeated: bool = False
) -> Iterator[None]:
    """Apply edits to a model within a `with` block, however it is run: at once, or token by token.

    Positions are counted over the calls of a layer, so one sequence passes at a time; with `is_repeated` each call is
    over all positions anew (mask-predict). `record` gets the weights (H, T, S) of every layer, as edited.
    """
    with exclusive(model), listening(_listeners(model, edits, record, is_repeated)):
        yield


def _listeners(
    model: nn.Module, edits: Sequence[Edit], record: dict[str, Tensor] | None, is_repeated: bool
) -> dict[Probe, Listener]:
    known = probes(model)
    paths = [(attention_path(model, edit.kind, edit.layer), edit) for edit in edits]
    overwrites: dict[str, list[Edit]] = {}
    switched: dict[str, list[Edit]] = {}
    for path, edit in paths:
        attention = model.get_submodule(path)
        if isinstance(attention, Attention):
            if edit.head is not None and not 0 <= edit.head < attention.head_count:
                raise ConfigError(f"head: {edit.head} is out of range; {path} has {attention.head_count} heads.")
        elif not edit.is_overwrite:
            raise ConfigError(f"head: the attention {path} has no heads of its own; overwrite its weights instead.")
        (overwrites if edit.is_overwrite else switched).setdefault(path, []).append(edit)
    listeners: dict[Probe, Listener] = {known[f"{path}.heads"]: _switching(own) for path, own in switched.items()}
    for name, probe in known.items():
        path = name.removesuffix(".weights")
        if name.endswith(".weights") and (record is not None or path in overwrites):
            listeners[probe] = _overwriting(overwrites.get(path, []), name, record, is_repeated)
    return listeners


def _overwriting(edits: Sequence[Edit], name: str, record: dict[str, Tensor] | None, is_repeated: bool) -> Listener:
    seen = 0

    def listener(weights: Tensor) -> Tensor | None:
        nonlocal seen
        if not edits:
            assert record is not None, "listens in order to record"
            record[name] = weights[0].float().cpu()
            return None
        changed, steps = weights.clone(), weights.size(2)  # (B, H, T, S)
        for edit in edits:
            assert edit.query is not None and edit.key is not None and edit.weight is not None
            if not seen <= edit.query < seen + steps:
                continue
            if edit.key >= weights.size(3):
                raise ConfigError(f"key: {edit.key} is after the last position this query attends to.")
            heads = range(weights.size(1)) if edit.head is None else [edit.head]
            for head in heads:
                row = changed[:, head, edit.query - seen]
                changed[:, head, edit.query - seen] = overwritten(row, edit.key, edit.weight)
        seen += 0 if is_repeated else steps
        if record is not None:
            record[name] = changed[0].float().cpu()
        return changed

    return listener


def _switching(edits: Sequence[Edit]) -> Listener:
    def listener(outputs: Tensor) -> Tensor:
        changed = outputs.clone()  # (B, H, T, K)
        for edit in edits:
            if edit.head is None:
                changed.zero_()
            else:
                changed[:, edit.head] = 0
        return changed

    return listener
