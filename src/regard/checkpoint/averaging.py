"""Checkpoint averaging: the mean of several checkpoints often beats each (Vaswani et al., 2017, §6.1)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch

from regard.checkpoint.bundle import Bundle, read_bundle, weights_of
from regard.checkpoint.store import CheckpointStore
from regard.errors import CheckpointError

Which = Literal["last", "best"]


def kept_checkpoints(run: Path, count: int | None, which: Which) -> list[Path]:
    """Return the folders of the newest (`last`) or the best checkpoints of a run; `count` None: of all."""
    store = CheckpointStore(run / "checkpoints")
    index = store.index
    names = list(reversed(index.kept)) if which == "last" else index.ranking
    wanted = max(2, len(names) if count is None else count)
    if len(names) < wanted:
        kept = "is one checkpoint" if len(names) == 1 else f"are {len(names)} checkpoints"
        raise CheckpointError(
            f"{run}: there {kept} to average, not {wanted}; train with train.keep_{which}={wanted} or more."
        )
    return [store.folder_of(name) for name in names[:wanted]]


@torch.no_grad()
def average_checkpoints(folders: Sequence[Path]) -> Bundle:
    """Return the first checkpoint's bundle with the mean of all checkpoints' weights."""
    first = read_bundle(folders[0])
    sums = {name: tensor.double() for name, tensor in weights_of(first.model).items()}
    for folder in folders[1:]:
        other = read_bundle(folder)
        _check_same(first, other, folders[0], folder)
        for name, tensor in weights_of(other.model).items():
            sums[name] += tensor
    targets = first.model.state_dict(keep_vars=True)
    for name, tensor in sums.items():
        targets[name].copy_(tensor / len(folders))
    return replace(first, facts=first.facts | {"averaged": [str(folder) for folder in folders]})


def _check_same(first: Bundle, other: Bundle, here: Path, there: Path) -> None:
    """Refuse to average models that differ in settings, vocabularies, tokenizers or seed."""
    left, right = _identity(first), _identity(other)
    for name in left | right:
        if left.get(name) != right.get(name):
            raise CheckpointError(
                f"{here} and {there}: {name} is {left.get(name)} in one and {right.get(name)} in the other, so their "
                f"mean is meaningless; average checkpoints of one run."
            )
    if {role: each.to_json() for role, each in first.tokenizers.items()} != {
        role: each.to_json() for role, each in other.tokenizers.items()
    }:
        raise CheckpointError(
            f"{here} and {there}: their tokenizers differ, so their mean is meaningless; average checkpoints of "
            f"one run."
        )


def _identity(bundle: Bundle) -> dict[str, Any]:
    """Return what must agree: settings of the model, vocabularies, labels and the seed of initialization."""
    settings = {f"model.{name}": value for name, value in bundle.settings.model_dump(mode="json").items()}
    shape = {name: value for name, value in settings.items() if "dropout" not in name and name != "model.preset"}
    vocabularies = {f"vocabularies.{name}": value for name, value in vars(bundle.vocabularies).items()}
    facts = {name: bundle.facts.get(name) for name in ("seed", "labels")}
    return {"task": bundle.task, **shape, **vocabularies, **facts}
