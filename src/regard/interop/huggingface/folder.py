"""Files of a Hugging Face folder: read without executing code, and written atomically."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from regard.checkpoint.atomic import write_folder
from regard.config.names import inside
from regard.config.records import Record, check_record, read_json
from regard.errors import CheckpointError
from regard.interop.huggingface.schemas import CONFIGS, Config, WeightIndex
from regard.models.base.settings import HeadSettings, ModelSettings, Vocabularies
from regard.models.families import build_model

CONFIG, GENERATION, WEIGHTS = "config.json", "generation_config.json", "model.safetensors"


def check_shapes(
    settings: ModelSettings,
    vocabularies: Vocabularies,
    weights: dict[str, Tensor],
    folder: Path,
    head: HeadSettings | None = None,
) -> None:
    """Refuse a config whose model has other shapes than the weights, before the model is built."""
    with torch.device("meta"):
        expected = build_model(settings, vocabularies, head).state_dict()
    for name, tensor in expected.items():
        if name in weights and weights[name].shape != tensor.shape:
            raise CheckpointError(
                f"{folder}: what becomes {name} has shape {tuple(weights[name].shape)}, but {CONFIG} asks for "
                f"{tuple(tensor.shape)}; copy it again."
            )


def fill(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copy weights of the right shapes into a model; a tied one is given under each of its names."""
    targets: dict[str, Tensor] = model.state_dict(keep_vars=True)
    with torch.no_grad():
        for name, target in targets.items():
            target.copy_(weights[name])


def read_config(folder: Path) -> dict[str, Any]:
    """Return the config.json of a Hugging Face model."""
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: there is no such folder; check the path.")
    if not (folder / CONFIG).exists():
        raise CheckpointError(
            f"{folder}: there is no {CONFIG} here, so this is no Hugging Face model; give a run without hf:."
        )
    config = read_object(folder / CONFIG, Config)
    if "regard" in config and "model" in config:
        raise CheckpointError(f"{folder}: this is a regard checkpoint already; use it as it is.")
    if config.get("model_type") in CONFIGS:
        check_record(config, folder / CONFIG, CONFIGS[config["model_type"]], CheckpointError, "a config to read")
    return config


def read_object(path: Path, schema: type[Record]) -> dict[str, Any]:
    """Return the object in a JSON file, checked against a schema; empty where there is no file."""
    what = f"a {path.name} that can be read"
    try:
        values: dict[str, Any] = read_json(path, CheckpointError, what)
    except FileNotFoundError:
        if path.is_symlink():
            raise CheckpointError(f"{path}: the file it links to is missing; copy it again.") from None
        return {}
    check_record(values, path, schema, CheckpointError, what)
    return values


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of model.safetensors, or of the shards that its index names."""
    paths, index = [folder / WEIGHTS], folder / f"{WEIGHTS}.index.json"
    if index.exists():
        names = read_object(index, WeightIndex)["weight_map"].values()
        paths = [inside(folder, name, index, CheckpointError) for name in sorted(set(names))]
    elif not os.path.lexists(folder / WEIGHTS):
        if any(folder.glob("*.bin")):
            raise CheckpointError(
                f"{folder}: its weights are pickled (.bin), and loading those may run code, so they are not read; "
                f"write them again as {WEIGHTS}, with save_pretrained."
            )
        raise CheckpointError(f"{folder}: there is no {WEIGHTS} here; copy it again.")
    tensors: dict[str, Tensor] = {}
    for path in paths:
        tensors |= read_tensor_file(path)
    return tensors


def read_tensor_file(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file, of any dtype."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would block
            raise CheckpointError(f"{path}: this is not a plain file; copy it again.")
        with safetensors.safe_open(path, framework="pt") as file:
            names: list[str] = file.keys()
            return {name: file.get_tensor(name) for name in names}
    except FileNotFoundError:
        raise CheckpointError(f"{path}: missing, so the model is incomplete; copy it again.") from None
    except (OSError, safetensors.SafetensorError, RuntimeError, ValueError, TypeError, LookupError) as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{path}: damaged ({reason}); copy it again.") from None


def write_new_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Create a new folder atomically, filled by `write`."""
    if folder.exists():
        raise CheckpointError(f"{folder}: it exists already; name a folder that does not.")
    try:
        write_folder(folder, write)
    except (OSError, safetensors.SafetensorError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CheckpointError(
            f"{folder}: it could not be written ({reason}); free some space or name another folder."
        ) from None


def write_tensors(folder: Path, tensors: dict[str, Tensor]) -> None:
    """Write the weights of a model."""
    safetensors.torch.save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
