"""The files of a Hugging Face folder: read without executing anything, and written whole or not at all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from regard.checkpoint.atomic import write_folder
from regard.errors import CheckpointError

CONFIG, GENERATION, WEIGHTS = "config.json", "generation_config.json", "model.safetensors"


def fill(model: nn.Module, weights: dict[str, Tensor], folder: Path) -> None:
    """Put weights into a model, each under every name it has there."""
    places: dict[str, Tensor] = model.state_dict(keep_vars=True)
    with torch.no_grad():
        for name, place in places.items():
            if weights[name].shape != place.shape:
                raise CheckpointError(
                    f"{folder}: what becomes {name} has shape {tuple(weights[name].shape)}, but {CONFIG} asks for "
                    f"{tuple(place.shape)}; copy it again."
                )
            place.copy_(weights[name])


def read_config(folder: Path) -> dict[str, Any]:
    """Return the config.json of a model that is not ours."""
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: there is no such folder; check the path.")
    if not (folder / CONFIG).is_file():
        raise CheckpointError(
            f"{folder}: there is no {CONFIG} here, so this is no Hugging Face model; a run is named without hf:."
        )
    config = read_json(folder / CONFIG)
    if "regard" in config and "model" in config:
        raise CheckpointError(f"{folder}: this is a regard checkpoint already; use it as it is.")
    return config


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise CheckpointError(f"{path}: this is not a JSON object that can be read.") from None


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of model.safetensors, or of the parts that its index names."""
    names, index = [WEIGHTS], folder / f"{WEIGHTS}.index.json"
    if index.is_file():
        names = sorted({Path(name).name for name in read_json(index).get("weight_map", {}).values()})
    elif not (folder / WEIGHTS).is_file():
        if any(folder.glob("*.bin")):
            raise CheckpointError(
                f"{folder}: its weights are pickled (.bin), and loading those may run code, so they are not read; "
                f"write them again as {WEIGHTS}, with save_pretrained."
            )
        raise CheckpointError(f"{folder}: there is no {WEIGHTS} here; copy it again.")
    tensors: dict[str, Tensor] = {}
    for name in names:
        try:
            tensors |= safetensors.torch.load_file(folder / name)
        except FileNotFoundError:
            raise CheckpointError(f"{folder / name}: missing, so the model is not whole; copy it again.") from None
        except (OSError, safetensors.SafetensorError) as error:
            raise CheckpointError(f"{folder / name}: damaged ({error}); copy it again.") from None
    return tensors


def write_whole(folder: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a folder that does not exist yet."""
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
