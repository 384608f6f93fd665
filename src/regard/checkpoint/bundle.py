"""Model bundles on disk, complete for raw text: settings, weights, tokenizers, decoding defaults; no pickle."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from regard import registry
from regard.checkpoint.atomic import write_folder, write_json
from regard.checkpoint.background import host_copies
from regard.checkpoint.facts import Parts, check_bounds, check_facts, check_tokenizer
from regard.checkpoint.fitting import check_fits, read_shapes, shapes_of
from regard.checkpoint.records import CONFIG, ConfigRecord, FormatRecord, check_settings
from regard.checkpoint.verification import STATE, TENSORS, TRAINING, WEIGHTS, check_intact, sharded, tensors_path
from regard.config.records import Record, check_record, read_json
from regard.errors import CheckpointError, ConfigError
from regard.models.base.settings import HeadSettings, ModelSettings, Vocabularies
from regard.models.families import build_model, family
from regard.nn.layers.low_rank import PART, merged
from regard.text.tokenizer import Tokenizer
from regard.version import __version__

FORMAT = 2
"""Version of the file layout and of the names in it; any other is refused."""

KNOWN = {"format", "regard", "task", "model", "vocabularies", "tokenizers", "head", "packages"}
"""Keys of every config; all others are facts of the task."""


@dataclass(frozen=True)
class Bundle:
    """A model with its settings, tokenizers and task facts."""

    task: str
    model: Any
    """A module that implements one of the protocols in models/base/protocols.py."""
    settings: ModelSettings
    vocabularies: Vocabularies
    tokenizers: dict[str, Tokenizer]
    """By role: `tokenizer` for all, or `source` and `target`."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Task-specific values such as decoding defaults; plain JSON."""
    head: HeadSettings | None = None
    """Settings of the task head, if there is one."""


@dataclass(frozen=True)
class TrainingState:
    """The state to resume training from: tensors by name (optimizer and others) and plain JSON facts."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]
    origin: Path = Path("training")
    """The folder it was read from."""


def weights_of(model: nn.Module, copies: bool = False) -> dict[str, Tensor]:
    """Return every parameter and persistent buffer once, by name, in host memory; a tied one under its first name.

    Low-rank updates (LoRA) are merged into their weights. With `copies`, none shares its memory with the model.
    """
    tensors = model.state_dict(keep_vars=True)
    pairs = (merged(model, name) or (name, tensors[name]) for name in shapes_of(model))
    weights = {name: each.detach() for name, each in pairs if PART not in name}
    return host_copies(weights) if copies else {name: each.cpu().contiguous() for name, each in weights.items()}


def write_bundle(
    folder: Path,
    bundle: Bundle,
    training: TrainingState | None = None,
    weights: dict[str, Tensor] | Path | None = None,
) -> None:
    """Write a checkpoint folder atomically.

    `weights` are those to write in place of the model's, or the folder to which all processes have written weights
    and training state: they are moved from there.
    """
    if isinstance(weights, Path):
        parts, tensors = weights, dict[str, Tensor]()
    else:
        parts, tensors = None, weights_of(bundle.model) if weights is None else weights

    def fill(temporary: Path) -> None:
        write_json(temporary / CONFIG, _describe(bundle))
        if parts is None:
            safetensors.torch.save_file(tensors, temporary / WEIGHTS)
        else:
            (parts / sharded(WEIGHTS)).rename(temporary / sharded(WEIGHTS))
        for role, tokenizer in bundle.tokenizers.items():
            (temporary / tokenizer_file(role)).write_text(tokenizer.to_json(), encoding="utf-8")
        if training is not None:
            (temporary / TRAINING).mkdir()
            write_json(temporary / STATE, training.facts)
            if parts is None:
                safetensors.torch.save_file(training.tensors, temporary / TENSORS)
            else:
                (parts / TRAINING).rename(temporary / sharded(TENSORS))

    try:
        write_folder(folder, fill)
    except (OSError, safetensors.SafetensorError) as error:
        raise unwritten(folder, error, is_resumable=training is not None) from None


def unwritten(path: Path, error: Exception, is_resumable: bool = True) -> CheckpointError:
    """Return the error of a failed write; the way out depends on whether a run can be resumed."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    way_out = (
        "checkpoints written before are untouched, so free some space and resume with --resume"
        if is_resumable
        else "free some space or name another folder"
    )
    return CheckpointError(f"{path}: the checkpoint could not be written ({reason}); {way_out}.")


def _describe(bundle: Bundle) -> dict[str, Any]:
    packages = registry.packages_of(bundle.task, bundle.settings.family)
    return {
        "format": FORMAT,
        "regard": __version__,
        "task": bundle.task,
        "model": bundle.settings.model_dump(mode="json"),
        "vocabularies": vars(bundle.vocabularies),
        "tokenizers": list(bundle.tokenizers),
        **({"packages": packages} if packages else {}),
        **({} if bundle.head is None else {"head": bundle.head.model_dump(mode="json")}),
        **bundle.facts,
    }


def tokenizer_file(role: str) -> str:
    """Return the file name of a tokenizer."""
    return "tokenizer.json" if role == "tokenizer" else f"tokenizer.{role}.json"


def read_config(folder: Path) -> dict[str, Any]:
    """Return the config.json of a checkpoint folder; a format that this version cannot read is refused."""
    path, what = folder / CONFIG, "the config of a regard checkpoint"
    try:
        config = read_json(path, CheckpointError, what, "copy it again")
    except FileNotFoundError:
        raise CheckpointError(f"{folder}: there is no {CONFIG} here, so this is not a checkpoint.") from None
    written = check_record(config, path, FormatRecord, CheckpointError, what, "copy it again")
    if written.format > FORMAT:
        raise CheckpointError(
            f"{folder}: written in format {written.format} by regard {written.regard}, but regard {__version__} "
            f"reads formats up to {FORMAT}; upgrade with pip install -U regard."
        )
    if written.format < FORMAT:
        raise CheckpointError(
            f"{folder}: written in format {written.format} by regard {written.regard}, but regard {__version__} "
            f"reads format {FORMAT}; train it again, or use it with the version that wrote it."
        )
    record = check_record(config, path, ConfigRecord, CheckpointError, what, "copy it again")
    if missing := registry.missing_package(record.packages):
        raise CheckpointError(f"{path}: {missing}")
    return dict(config)


def read_bundle(folder: Path, device: torch.device | str = "cpu") -> Bundle:
    """Read a checkpoint folder; the model is in eval mode.

    Settings are checked against the header of the weights before anything of their size is built or read.
    """
    config = read_config(folder)
    check_intact(folder)
    path, task = folder / CONFIG, config["task"]
    try:
        settings = check_settings(family(config["model"]["family"]).settings, config["model"], "model", path)
    except ConfigError as error:
        raise CheckpointError(f"{path}: {error}") from None
    vocabularies = Vocabularies(**{name: config["vocabularies"][name] for name in ("source", "target", "is_shared")})
    head = check_settings(HeadSettings, config["head"], "head", path) if config.get("head") is not None else None
    facts = {key: value for key, value in config.items() if key not in KNOWN}
    parts = Parts(settings, vocabularies, head, set(config["tokenizers"]))
    check_facts(folder, task, facts, parts)
    tokenizers = {role: _read_tokenizer(folder, role, task, parts) for role in config["tokenizers"]}
    weights = tensors_path(folder, WEIGHTS)
    check_fits(weights, read_shapes(weights), settings, vocabularies, head)
    model = build_model(settings, vocabularies, head)
    check_bounds(folder, facts, getattr(model, "max_positions", None))
    _fill(model, read_tensors(weights), folder)
    return Bundle(task, model.to(device).eval(), settings, vocabularies, tokenizers, facts, head)


def _read_tokenizer(folder: Path, role: str, task: str, parts: Parts) -> Tokenizer:
    path = folder / tokenizer_file(role)
    tokenizer = Tokenizer.load(path)
    check_tokenizer(path, role, tokenizer, task, parts)
    return tokenizer


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Read the weights of a checkpoint folder, by name."""
    check_intact(folder)
    return read_tensors(tensors_path(folder, WEIGHTS))


def read_training(folder: Path) -> TrainingState:
    """Read the training state of a checkpoint folder."""
    path, what = folder / STATE, "the state of training"
    if not path.exists():
        raise CheckpointError(f"{folder}: it holds no training state (only the latest checkpoints of a run do).")
    check_intact(folder, with_training=True)
    facts = check_record(read_json(path, CheckpointError, what), path, Record, CheckpointError, what).model_dump()
    return TrainingState(read_tensors(tensors_path(folder, TENSORS)), facts, folder / TRAINING)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file, or whole tensors from a folder of their parts."""
    if path.is_dir():
        from regard.checkpoint.shards import read_shards  # torch.distributed.checkpoint takes a second to load

        return read_shards(path)
    try:
        return safetensors.torch.load_file(path)
    except (safetensors.SafetensorError, OSError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path}: damaged ({error}); copy it again or use another checkpoint.") from None


def _fill(model: nn.Module, weights: dict[str, Tensor], folder: Path) -> None:
    targets = model.state_dict(keep_vars=True)
    with torch.no_grad():
        for name, tensor in weights.items():
            if tensor.is_floating_point() != targets[name].is_floating_point() or tensor.is_complex():
                dtype, wanted = (str(each.dtype).removeprefix("torch.") for each in (tensor, targets[name]))
                raise CheckpointError(f"{folder / WEIGHTS}: {name} is of {dtype}, not {wanted}; copy it again.")
            targets[name].copy_(tensor)
