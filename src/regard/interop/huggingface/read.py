"""Reader of Hugging Face folders, translators in this module; no code in them is executed."""

from pathlib import Path
from typing import Any

import torch

from regard import registry
from regard.checkpoint.bundle import Bundle
from regard.decoding.settings import TranslationDecoding
from regard.errors import CheckpointError
from regard.interop.huggingface.causal_configs import CausalArchitecture
from regard.interop.huggingface.causal_models import read_language_model
from regard.interop.huggingface.encoder_configs import EncoderArchitecture
from regard.interop.huggingface.encoder_heads import task_of
from regard.interop.huggingface.encoders import read_encoder
from regard.interop.huggingface.folder import (
    CONFIG,
    GENERATION,
    check_shapes,
    fill,
    read_config,
    read_object,
    read_tensors,
)
from regard.interop.huggingface.generation_config import NO_SEARCH, decoding_of
from regard.interop.huggingface.schemas import Generation
from regard.interop.huggingface.seq2seq_configs import Form, checked, form_of, settings_of
from regard.interop.huggingface.seq2seq_weights import OUTPUT_BIAS, TABLES, Weights, tables_of, take, to_ours
from regard.interop.huggingface.tokenizers import check_token_ids, read_tokenizers
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.transformer.model import TransformerSettings
from regard.text.tokenizer import Tokenizer


def read_task(folder: str | Path) -> str:
    """Return the task of a model, from its config alone."""
    config = read_config(Path(folder))
    form = form_of(config, str(Path(folder) / CONFIG))
    if isinstance(form, EncoderArchitecture):
        return task_of(form, config)
    return registry.task_of_model("causal-lm" if isinstance(form, CausalArchitecture) else "seq2seq")


def read(folder: str | Path) -> Bundle:
    """Read a model with safetensors and a fast tokenizer; it is in eval mode."""
    folder = Path(folder)
    config = read_config(folder)
    form = form_of(config, str(folder / CONFIG))
    if isinstance(form, CausalArchitecture):
        return read_language_model(folder, config, form)
    if isinstance(form, EncoderArchitecture):
        return read_encoder(folder, config, form)
    tensors = read_tensors(folder)
    tokenizers = read_tokenizers(folder)
    is_shared = "tokenizer" in tokenizers
    source, target = (tokenizers["tokenizer" if is_shared else role] for role in ("source", "target"))
    settings, weights = _translate(config, form, tensors, source, target, folder)
    vocabularies = Vocabularies(source.size, target.size, is_shared)
    check_shapes(settings, vocabularies, weights, folder)
    model = build_model(settings, vocabularies).eval()
    fill(model, weights)
    decode = decoding_of(read_object(folder / GENERATION, Generation) or config)
    checked(TranslationDecoding, decode, str(folder / GENERATION), NO_SEARCH)
    return Bundle(registry.task_of_model("seq2seq"), model, settings, vocabularies, tokenizers, {"decode": decode})


def _translate(
    config: dict[str, Any], form: Form, tensors: Weights, source: Tokenizer, target: Tokenizer, folder: Path
) -> tuple[TransformerSettings, Weights]:
    """Return regard's settings and weights (a tied matrix under each of its names) for a config and tensors."""
    where = str(folder / CONFIG)
    values = settings_of(config, form, where)
    settings = checked(TransformerSettings, values, where)
    weights = to_ours(tensors, settings, str(folder))
    tables = tables_of(tensors, config, settings, str(folder))
    ours, theirs = OUTPUT_BIAS
    bias = take(tensors, theirs, str(folder)) if theirs in tensors else None
    values["has_output_bias"] = bias is not None and bool(bias.any())
    if bias is not None and (bias.dim() != 2 or len(bias) != 1):
        raise CheckpointError(
            f"{folder}: {theirs} has shape {tuple(bias.shape)}, not that of a single row; copy it again."
        )
    if bias is not None and values["has_output_bias"]:
        tables["bias"] = bias.T  # (V, 1)
    tables = _with_bos(tables, config, source, target, where)
    if values["has_output_bias"]:
        weights[ours] = tables.pop("bias").squeeze(1)
    values["embeddings"] = _sharing(tables, source is target)
    settings = checked(TransformerSettings, values, where)
    return settings, weights | {TABLES[role][0]: table for role, table in tables.items()}


def _with_bos(tables: Weights, config: dict[str, Any], source: Tokenizer, target: Tokenizer, where: str) -> Weights:
    """Return the embedding matrices with the embedding of the decoder start token in the row of <s>.

    regard starts every output with <s>, and never generates it. A model that starts with another token (Marian with
    <pad>) gets that token's row there, as a new last row where its vocabulary has no <s>.
    """
    first, end = config.get("decoder_start_token_id"), config.get("eos_token_id")
    if end != target.eos_id:
        raise CheckpointError(f"{where}: eos_token_id is {end}, but </s> of the tokenizer is {target.eos_id}.")
    if not isinstance(first, int) or not 0 <= first < len(tables["target"]):
        raise CheckpointError(f"{where}: decoder_start_token_id is {first}, which is not the id of a target token.")
    extended: Weights = {}
    for role, table in tables.items():
        tokenizer = source if role == "source" else target
        if len(table) + 1 == tokenizer.size and tokenizer.bos_id == len(table):
            table = torch.cat((table, table.new_zeros(1, table.size(1))))
        check_token_ids(tokenizer, len(table), where, f" for its {role}")
        if tokenizer is target and first != target.bos_id:
            table = table.clone()
            table[target.bos_id] = table[first]
        extended[role] = table
    return extended


def _sharing(tables: Weights, has_one_vocabulary: bool) -> str:
    """Return the setting `embeddings`: which of the matrices are equal."""
    if not torch.equal(tables["target"], tables["output"]):
        return "separate"
    return "shared" if has_one_vocabulary and torch.equal(tables["source"], tables["target"]) else "target"
