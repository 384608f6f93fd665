"""A model on disk, complete for raw text: settings, weights, tokenizers and decoding defaults, and no code."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from regard.checkpoint.atomic import MANIFEST, fingerprint, write_folder, write_json
from regard.errors import CheckpointError
from regard.models import HeadSettings, ModelSettings, Vocabularies, build_model, family
from regard.text import Tokenizer
from regard.version import __version__

FORMAT = 1
"""The version of the layout below. A newer one is refused; an older one would be migrated on reading."""

CONFIG, WEIGHTS, TRAINING = "config.json", "model.safetensors", "training"
TENSORS = f"{TRAINING}/optimizer.safetensors"


@dataclass(frozen=True)
class Bundle:
    """A model with everything it takes to use it."""

    task: str
    model: Any
    """A module that keeps one of the promises in models/interface.py."""
    settings: ModelSettings
    vocabularies: Vocabularies
    tokenizers: dict[str, Tokenizer]
    """By role: `tokenizer` for all, or `source` and `target`."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What else the task wants to remember, such as decoding defaults; plain JSON."""
    head: HeadSettings | None = None
    """The shape of the head over the model, where a task needs one."""


@dataclass(frozen=True)
class TrainingState:
    """What it takes to go on training: tensors by name (the optimizer's and others) and plain JSON facts."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Return every parameter and saved buffer once, by name; a shared one under its first name."""
    weights: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            weights[name] = tensor.detach().cpu().contiguous()
    return weights


def write_bundle(folder: Path, bundle: Bundle, training: TrainingState | None = None) -> None:
    """Write a checkpoint folder, whole or not at all."""

    def fill(aside: Path) -> None:
        write_json(aside / CONFIG, _describe(bundle))
        safetensors.torch.save_file(weights_of(bundle.model), aside / WEIGHTS)
        for role, tokenizer in bundle.tokenizers.items():
            (aside / _tokenizer_file(role)).write_text(tokenizer.to_json(), encoding="utf-8")
        if training is not None:
            (aside / TRAINING).mkdir()
            write_json(aside / TRAINING / "state.json", training.facts)
            safetensors.torch.save_file(training.tensors, aside / TENSORS)

    try:
        write_folder(folder, fill)
    except (OSError, safetensors.SafetensorError) as error:
        raise unwritten(folder, error, is_resumable=training is not None) from None


def unwritten(path: Path, error: Exception, is_resumable: bool = True) -> CheckpointError:
    """Return what to say when a disk takes no more, in the middle of a run or where there is none to go on with."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    way_out = (
        "checkpoints written before are untouched, so free some space and go on with --resume"
        if is_resumable
        else "free some space or name another folder"
    )
    return CheckpointError(f"{path}: the checkpoint could not be written ({reason}); {way_out}.")


def _describe(bundle: Bundle) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "regard": __version__,
        "task": bundle.task,
        "model": bundle.settings.model_dump(mode="json"),
        "vocabularies": vars(bundle.vocabularies),
        "tokenizers": list(bundle.tokenizers),
        **({} if bundle.head is None else {"head": bundle.head.model_dump(mode="json")}),
        **bundle.facts,
    }


def _tokenizer_file(role: str) -> str:
    return "tokenizer.json" if role == "tokenizer" else f"tokenizer.{role}.json"


def read_config(folder: Path) -> dict[str, Any]:
    """Return the config.json of a checkpoint folder after checking that this version can read it."""
    path = folder / CONFIG
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        written = int(config["format"])
    except FileNotFoundError:
        raise CheckpointError(f"{folder}: there is no {CONFIG} here, so this is not a checkpoint.") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise CheckpointError(f"{path}: this is not the config of a regard checkpoint.") from None
    if written > FORMAT:
        raise CheckpointError(
            f"{folder}: written in format {written} by regard {config.get('regard', '?')}, but regard {__version__} "
            f"reads formats up to {FORMAT}; upgrade with pip install -U regard."
        )
    return dict(config)


def read_bundle(folder: Path, device: torch.device | str = "cpu") -> Bundle:
    """Read a checkpoint folder; the model comes back in eval mode."""
    config = read_config(folder)
    check_whole(folder)
    try:
        settings = family(config["model"]["family"]).settings.model_validate_json(json.dumps(config["model"]))
        vocabularies = Vocabularies(**config["vocabularies"])
        head = HeadSettings.model_validate_json(json.dumps(config["head"])) if "head" in config else None
        roles, task = config["tokenizers"], str(config["task"])
    except (KeyError, TypeError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise CheckpointError(f"{folder / CONFIG}: the model's settings cannot be read ({reason}).") from None
    model = build_model(settings, vocabularies, head)
    _fill(model, read_tensors(folder / WEIGHTS), folder)
    tokenizers = {role: Tokenizer.load(folder / _tokenizer_file(role)) for role in roles}
    known = {"format", "regard", "task", "model", "vocabularies", "tokenizers", "head"}
    facts = {key: value for key, value in config.items() if key not in known}
    return Bundle(task, model.to(device).eval(), settings, vocabularies, tokenizers, facts, head)


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Read the weights of a checkpoint folder, by name."""
    check_whole(folder)
    return read_tensors(folder / WEIGHTS)


def read_training(folder: Path) -> TrainingState:
    """Read what it takes to go on training from a checkpoint folder."""
    path = folder / TRAINING / "state.json"
    if not path.is_file():
        raise CheckpointError(f"{folder}: it holds no training state (only the latest checkpoints of a run do).")
    check_whole(folder)
    facts = json.loads(path.read_text(encoding="utf-8"))
    return TrainingState(read_tensors(folder / TENSORS), facts)


def check_whole(folder: Path, to_go_on: bool = False) -> None:
    """Refuse a checkpoint one of whose files is missing or not as it was written.

    Its training state may be gone whole, unless one wants to go on from it.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        for name, expected in manifest.items():
            if to_go_on or not name.startswith(TRAINING) or (folder / TRAINING).exists():
                _check_file(folder / name, expected)
    except FileNotFoundError as error:
        raise _not_whole(error.filename) from None
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise CheckpointError(f"{folder / MANIFEST}: this list of files cannot be read ({error}).") from None
    for name in (CONFIG, WEIGHTS, *([TENSORS] if to_go_on else [])):
        if name not in manifest:
            raise _not_whole(folder / name)


def _not_whole(path: Path | str) -> CheckpointError:
    return CheckpointError(f"{path}: missing, so the checkpoint is not whole; copy it again.")


def _check_file(path: Path, expected: dict[str, Any]) -> None:
    found = fingerprint(path)
    if found["bytes"] != expected["bytes"]:
        raise CheckpointError(
            f"{path}: damaged, it has {found['bytes']:,} bytes of {expected['bytes']:,}; copy it again or use "
            f"another checkpoint."
        )
    if found["sha256"] != expected["sha256"]:
        raise CheckpointError(f"{path}: damaged, its contents changed since it was written; copy it again.")


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file."""
    try:
        return safetensors.torch.load_file(path)
    except (safetensors.SafetensorError, OSError) as error:
        raise CheckpointError(f"{path}: damaged ({error}); copy it again or use another checkpoint.") from None


def _fill(model: nn.Module, weights: dict[str, Tensor], folder: Path) -> None:
    places = model.state_dict(keep_vars=True)
    wanted = set(weights_of(model))
    if wanted != set(weights):
        odd = sorted(wanted ^ set(weights))[0]
        raise CheckpointError(f"{folder / WEIGHTS}: its tensors do not fit the settings ({odd} is on one side only).")
    with torch.no_grad():
        for name, tensor in weights.items():
            if places[name].shape != tensor.shape:
                raise CheckpointError(
                    f"{folder / WEIGHTS}: {name} has shape {tuple(tensor.shape)} but the settings ask for "
                    f"{tuple(places[name].shape)}."
                )
            places[name].copy_(tensor)
