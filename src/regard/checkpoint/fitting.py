"""Checks of weights against model settings by the file's header alone, before anything large is read or built."""

from collections.abc import Mapping
from pathlib import Path

import safetensors
import torch
from torch import nn

from regard.config.settings import Settings, flatten
from regard.errors import CheckpointError
from regard.models.base.settings import HeadSettings, ModelSettings, Vocabularies
from regard.models.families import build_model

Shape = tuple[int, ...]

REPEATED = ("layers", "highways")
"""Parts of the names of settings that count repeated modules with weights."""
WIDE = ("heads",)
"""Parts of the names of settings that divide a width."""
LARGEST = 2**31
"""Largest accepted value of an integer setting."""


def read_shapes(path: Path) -> dict[str, Shape]:
    """Return the shape of every tensor by name, from the header of a safetensors file, or of each in a folder."""
    if path.is_dir():
        from regard.checkpoint.shards import shapes_of_shards  # torch.distributed.checkpoint takes a second to load

        return shapes_of_shards(path)
    try:
        with safetensors.safe_open(path, "pt") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{path}: damaged ({error}); copy it again or use another checkpoint.") from None


def check_fits(
    path: Path,
    shapes: Mapping[str, Shape],
    settings: ModelSettings,
    vocabularies: Vocabularies,
    head: HeadSettings | None = None,
) -> None:
    """Refuse settings whose model has other weights than a file (`path`); it is built on the meta device only."""
    check_counts(path, shapes, settings, head)
    try:
        with torch.device("meta"):
            wanted = shapes_of(build_model(settings, vocabularies, head))
    except Exception:  # torch's errors about absurd sizes do not help a user
        raise CheckpointError(f"{path}: its tensors do not fit the settings, which no model can have.") from None
    compare_shapes(path, shapes, wanted)


def check_counts(path: Path, shapes: Mapping[str, Shape], *groups: Settings | None) -> None:
    """Refuse settings with more layers than the file has tensors, or more heads than its widest dimension."""
    tensors, widest = len(shapes), max((size for shape in shapes.values() for size in shape), default=0)
    for group in groups:
        for name, value in flatten(group.model_dump()) if group is not None else ():
            is_count = isinstance(value, int) and not isinstance(value, bool)
            for parts, most in ((REPEATED, tensors), (WIDE, widest), (("",), LARGEST)):
                if is_count and value > most and any(part in name.rpartition(".")[2] for part in parts):
                    raise CheckpointError(f"{path}: its tensors do not fit the settings ({name} is {value:,}).")


def shapes_of(model: nn.Module) -> dict[str, Shape]:
    """Return the shape of every parameter and persistent buffer once, by name; a tied one under its first name."""
    shapes: dict[str, Shape] = {}
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            shapes[name] = tuple(tensor.shape)
    return shapes


def compare_shapes(path: Path, shapes: Mapping[str, Shape], wanted: Mapping[str, Shape]) -> None:
    """Refuse tensors whose names or shapes are not the model's."""
    if unmatched := sorted(set(shapes) ^ set(wanted)):
        raise CheckpointError(f"{path}: its tensors do not fit the settings ({unmatched[0]} is on one side only).")
    for name, shape in shapes.items():
        if shape != wanted[name]:
            raise CheckpointError(f"{path}: {name} has shape {shape} but the settings ask for {wanted[name]}.")
