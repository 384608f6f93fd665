"""A Hugging Face folder (Marian, Pegasus, Blenderbot) as a translation model of ours; nothing in it is executed."""

import json
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from regard.checkpoint import Bundle
from regard.errors import CheckpointError
from regard.interop.forms import form_of, settings_of
from regard.interop.generation import decoding_of
from regard.interop.tensors import OUTPUT_BIAS, TABLES, Weights, tables_of, to_ours
from regard.interop.tokens import read_tokenizers
from regard.interop.write import CONFIG, GENERATION, WEIGHTS
from regard.models import Vocabularies, build_model
from regard.models.transformer import TransformerSettings
from regard.text import Tokenizer


def read(folder: str | Path) -> Bundle:
    """Read a model with safetensors and a fast tokenizer; it comes back in eval mode."""
    folder = Path(folder)
    config = _read_config(folder)
    tensors = _read_tensors(folder)
    tokenizers = read_tokenizers(folder)
    is_shared = "tokenizer" in tokenizers
    source, target = (tokenizers["tokenizer" if is_shared else role] for role in ("source", "target"))
    settings, weights = _translate(config, tensors, source, target, folder)
    vocabularies = Vocabularies(source.size, target.size, is_shared)
    model = build_model(settings, vocabularies).eval()
    _fill(model, weights, folder)
    generation = _read_json(folder / GENERATION) if (folder / GENERATION).is_file() else config
    return Bundle("translate", model, settings, vocabularies, tokenizers, {"decode": decoding_of(generation)})


def _translate(
    config: dict[str, Any], tensors: Weights, source: Tokenizer, target: Tokenizer, folder: Path
) -> tuple[TransformerSettings, Weights]:
    """Return our settings and weights (a shared table under each of its names) for their config and tensors."""
    where = str(folder / CONFIG)
    values = settings_of(config, form_of(config, where), where)
    settings = _settings(values, where)
    weights = to_ours(tensors, settings, str(folder))
    tables = tables_of(tensors, config, settings, str(folder))
    ours, theirs = OUTPUT_BIAS
    values["has_output_bias"] = theirs in tensors and bool(tensors[theirs].any())
    if values["has_output_bias"]:
        tables["bias"] = tensors[theirs].float().T  # (V, 1)
    tables = _with_start(tables, config, source, target, where)
    if values["has_output_bias"]:
        weights[ours] = tables.pop("bias").squeeze(1)
    values["embeddings"] = _sharing(tables, source is target)
    return _settings(values, where), weights | {TABLES[role][0]: table for role, table in tables.items()}


def _with_start(tables: Weights, config: dict[str, Any], source: Tokenizer, target: Tokenizer, where: str) -> Weights:
    """Return the tables with the vector of the decoder's first token at the place of <s>.

    regard starts every output with <s>, and never says it. A model that starts with another token (Marian's own do,
    with <pad>) gets that token's row there, as a new last one where its vocabulary has no <s>.
    """
    first, end = config.get("decoder_start_token_id"), config.get("eos_token_id")
    if end != target.end:
        raise CheckpointError(f"{where}: eos_token_id is {end}, but </s> of the tokenizer is {target.end}.")
    if not isinstance(first, int) or not 0 <= first < len(tables["target"]):
        raise CheckpointError(f"{where}: decoder_start_token_id is {first}, which is no token of the target.")
    found: Weights = {}
    for role, table in tables.items():
        tokenizer = source if role == "source" else target
        if len(table) + 1 == tokenizer.size and tokenizer.start == len(table):
            table = torch.cat((table, table.new_zeros(1, table.size(1))))
        if len(table) != tokenizer.size:
            raise CheckpointError(
                f"{where}: the model has {len(table):,} tokens for its {role}, but the tokenizer {tokenizer.size:,}; "
                f"put the tokenizer it was trained with beside it."
            )
        if tokenizer is target and first != target.start:
            table = table.clone()
            table[target.start] = table[first]
        found[role] = table
    return found


def _sharing(tables: Weights, has_one_vocabulary: bool) -> str:
    """Return which of the tables are one."""
    if not torch.equal(tables["target"], tables["output"]):
        return "separate"
    return "shared" if has_one_vocabulary and torch.equal(tables["source"], tables["target"]) else "target"


def _settings(values: dict[str, Any], where: str) -> TransformerSettings:
    try:
        return TransformerSettings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = "".join(f"{part}: " for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ").removesuffix(".")
        raise CheckpointError(f"{where}: it describes no model that can be built ({name}{reason}).") from None


def _fill(model: nn.Module, weights: Weights, folder: Path) -> None:
    places: dict[str, Tensor] = model.state_dict(keep_vars=True)
    with torch.no_grad():
        for name, place in places.items():
            if weights[name].shape != place.shape:
                raise CheckpointError(
                    f"{folder}: what becomes {name} has shape {tuple(weights[name].shape)}, but {CONFIG} asks for "
                    f"{tuple(place.shape)}; copy it again."
                )
            place.copy_(weights[name])


def _read_config(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: there is no such folder; check the path.")
    if not (folder / CONFIG).is_file():
        raise CheckpointError(f"{folder}: there is no {CONFIG} here, so this is no Hugging Face model.")
    config = _read_json(folder / CONFIG)
    if "regard" in config and "model" in config:
        raise CheckpointError(f"{folder}: this is a regard checkpoint already; use it as it is.")
    return config


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise CheckpointError(f"{path}: this is not a JSON object that can be read.") from None


def _read_tensors(folder: Path) -> Weights:
    """Return the tensors of model.safetensors, or of the parts that its index names."""
    names, index = [WEIGHTS], folder / f"{WEIGHTS}.index.json"
    if index.is_file():
        names = sorted({Path(name).name for name in _read_json(index).get("weight_map", {}).values()})
    elif not (folder / WEIGHTS).is_file():
        if any(folder.glob("*.bin")):
            raise CheckpointError(
                f"{folder}: its weights are pickled (.bin), and loading those may run code, so they are not read; "
                f"write them again as {WEIGHTS}, with save_pretrained."
            )
        raise CheckpointError(f"{folder}: there is no {WEIGHTS} here; copy it again.")
    tensors: Weights = {}
    for name in names:
        try:
            tensors |= safetensors.torch.load_file(folder / name)
        except FileNotFoundError:
            raise CheckpointError(f"{folder / name}: missing, so the model is not whole; copy it again.") from None
        except (OSError, safetensors.SafetensorError) as error:
            raise CheckpointError(f"{folder / name}: damaged ({error}); copy it again.") from None
    return tensors
