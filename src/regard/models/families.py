"""Model families by name: what each is, and how its models are built."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from regard import registry
from regard.errors import ConfigError
from regard.models.base.family import BIDIRECTIONAL_KINDS, KINDS, Family, Kind
from regard.models.base.settings import HeadSettings, ModelSettings, Vocabularies
from regard.models.heads import ModelWithHead
from regard.models.presets import preset, presets

DEFAULT_FAMILY: dict[Kind, str] = {
    "seq2seq": "transformer",
    "conditional-masked-lm": "mask-predict",
    "causal-lm": "gpt",
    "encoder": "bert",
    "word-vectors": "word-vectors",
    "bidirectional-lm": "elmo",
    "embeddings": "words",
}
"""The family of a model for which neither preset nor family is set."""


def family(name: str) -> Family:
    """Return the family of that name."""
    return cast(Family, registry.FAMILIES.find(name))


def is_bidirectional(name: str) -> bool:
    """Return True if the models of a family are bidirectional."""
    return family(name).kind in BIDIRECTIONAL_KINDS


def presets_of(*kinds: Kind) -> list[str]:
    """Return the names of the presets of some kinds."""
    return [name for name, each in presets().items() if family(each.settings["family"]).kind in kinds]


def check_kind(task: str, wanted: Sequence[Kind], name: str, chosen: str | None) -> None:
    """Refuse a family, or the preset that selected it, whose kind a task does not support."""
    kind = family(name).kind
    if kind in wanted:
        return
    is_chosen_by_preset = chosen is not None and preset(chosen).settings["family"] == name
    where, what = ("model.preset", chosen) if is_chosen_by_preset else ("model.family", name)
    needed = " or a ".join(KINDS[each] for each in wanted)
    raise ConfigError(
        f'{where}: "{what}" is a {KINDS[kind]}, but the task {task} needs a {needed}; matching presets: '
        f"{', '.join(presets_of(*wanted))}."
    )


def build_model(settings: ModelSettings, vocabularies: Vocabularies, head: HeadSettings | None = None) -> nn.Module:
    """Return an initialized model, with a task head where settings are given."""
    chosen = family(settings.family)
    body = chosen.build(settings, vocabularies)
    return body if head is None else ModelWithHead(body, head, is_encoder=chosen.kind in BIDIRECTIONAL_KINDS)


def position_limit(settings: ModelSettings, vocabularies: Vocabularies) -> int | None:
    """Return the maximum number of positions of a model, without allocating it; None: any number."""
    with _unallocated():
        return cast(int | None, build_model(settings, vocabularies).max_positions)


def count_parameters(settings: ModelSettings, vocabularies: Vocabularies, head: HeadSettings | None = None) -> int:
    """Return the number of parameters without allocating them; shared ones count once."""
    with _unallocated():
        return sum(parameter.numel() for parameter in build_model(settings, vocabularies, head).parameters())


@contextmanager
def _unallocated() -> Iterator[None]:
    """Build models without memory for their values; drawing none spares the import of torch's compiler (2 s)."""
    with torch.device("meta"), _Undrawn():
        yield


class _Undrawn(TorchFunctionMode):
    """Leave tensors as they are where `torch.nn.init` would fill them with random numbers."""

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """Return the tensor itself for an initialization, and do everything else."""
        given = kwargs or {}
        is_drawn = getattr(func, "__module__", None) == nn.init.__name__
        return given["tensor"] if is_drawn and "tensor" in given else func(*args, **given)
