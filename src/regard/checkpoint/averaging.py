"""The mean of several checkpoints of one run, which often beats each of them (Vaswani et al., 2017, §6.1)."""

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
    """Return the newest, or the best, checkpoints that a run has kept; `count` unset: all of them."""
    store = CheckpointStore(run / "checkpoints")
    index = store.index
    names = list(reversed(index.kept)) if which == "last" else index.ranking
    wanted = max(2, len(names) if count is None else count)
    if len(names) < wanted:
        there = "is one checkpoint" if len(names) == 1 else f"are {len(names)} checkpoints"
        raise CheckpointError(
            f"{run}: there {there} to average, not {wanted}; train with train.keep_{which}={wanted} or more."
        )
    return [store.place(name) for name in names[:wanted]]


@torch.no_grad()
def average_checkpoints(folders: Sequence[Path]) -> Bundle:
    """Return a model whose weights are the mean of theirs; all else is the first one's."""
    first = read_bundle(folders[0])
    sums = {name: tensor.double() for name, tensor in weights_of(first.model).items()}
    for folder in folders[1:]:
        other = read_bundle(folder)
        _compare(first, other, folders[0], folder)
        for name, tensor in weights_of(other.model).items():
            sums[name] += tensor
    places = first.model.state_dict(keep_vars=True)
    for name, tensor in sums.items():
        places[name].copy_(tensor / len(folders))
    return replace(first, facts=first.facts | {"averaged": [str(folder) for folder in folders]})


def _compare(first: Bundle, other: Bundle, here: Path, there: Path) -> None:
    """Refuse models whose weights do not stand for the same things."""
    one, two = _essence(first), _essence(other)
    for name in one | two:
        if one.get(name) != two.get(name):
            raise CheckpointError(
                f"{here} and {there}: {name} is {one.get(name)} in one and {two.get(name)} in the other, so their "
                f"mean would mean nothing; average checkpoints of one run."
            )
    if {role: each.to_json() for role, each in first.tokenizers.items()} != {
        role: each.to_json() for role, each in other.tokenizers.items()
    }:
        raise CheckpointError(
            f"{here} and {there}: their tokenizers differ, so their mean would mean nothing; average checkpoints of "
            f"one run."
        )


def _essence(bundle: Bundle) -> dict[str, Any]:
    """Return what must agree: the shape of the model, its vocabularies, and the seed its first weights came from."""
    settings = {f"model.{name}": value for name, value in bundle.settings.model_dump(mode="json").items()}
    shape = {name: value for name, value in settings.items() if "dropout" not in name and name != "model.preset"}
    vocabularies = {f"vocabularies.{name}": value for name, value in vars(bundle.vocabularies).items()}
    facts = {name: bundle.facts.get(name) for name in ("seed", "labels")}
    return {"task": bundle.task, **shape, **vocabularies, **facts}
