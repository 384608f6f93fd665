"""Text encoders from and to Hugging Face folders (BERT, with or without heads)."""

from pathlib import Path
from typing import Any

import torch

from regard import registry
from regard.checkpoint.atomic import write_json
from regard.checkpoint.bundle import Bundle
from regard.checkpoint.facts import TaskFacts
from regard.config.records import check_record
from regard.errors import CheckpointError
from regard.interop.huggingface.encoder_configs import (
    ENCODER_ARCHITECTURES,
    MASKED_WORDS,
    NEXT_SENTENCE,
    POOLER,
    EncoderArchitecture,
    check_encoder,
    encoder_config,
    encoder_settings,
    lost_in_encoder,
)
from regard.interop.huggingface.encoder_heads import (
    STORED_FACTS,
    as_sentence_encoder,
    head_config,
    head_kind,
    head_to_ours,
    head_to_theirs,
    headed_architecture,
    read_head,
    remembered,
    task_of,
)
from regard.interop.huggingface.encoder_tokenizers import read_encoder_tokenizer, write_encoder_tokenizer
from regard.interop.huggingface.encoder_weights import encoder_to_ours, encoder_to_theirs, parts_in, with_new_names
from regard.interop.huggingface.folder import (
    CONFIG,
    check_shapes,
    fill,
    read_object,
    read_tensors,
    write_new_folder,
    write_tensors,
)
from regard.interop.huggingface.schemas import Own
from regard.interop.huggingface.sentence_transformers import sentence_facts, write_sentence_modules
from regard.interop.huggingface.seq2seq_configs import checked
from regard.interop.huggingface.seq2seq_weights import Weights
from regard.models.base.settings import HeadSettings, Vocabularies
from regard.models.bert import BertSettings
from regard.models.families import build_model
from regard.progress import Progress

UNTRAINED = "untrained"
"""Fact with the parts that the folder lacked: initialized at random, so their output is meaningless."""

OWN = "regard.json"
"""File with facts that config.json cannot hold; `transformers` ignores it."""

BODY = "body."
"""Prefix of regard's encoder weights in a model with a task head."""


def read_encoder(folder: Path, config: dict[str, Any], form: EncoderArchitecture) -> Bundle:
    """Read a BERT in eval mode; missing parts are initialized with a fixed seed and named in the facts."""
    where = str(folder / CONFIG)
    tensors = with_new_names(read_tensors(folder))
    parts = parts_in(tensors) | form.parts
    values = encoder_settings(config, where) | {"next_sentence_head": NEXT_SENTENCE in parts}
    if MASKED_WORDS in parts and not config.get("tie_word_embeddings", True):
        values["embeddings"] = "separate"
    settings = checked(BertSettings, values, where)
    weights = encoder_to_ours(tensors, settings, parts, str(folder))
    tokenizer = read_encoder_tokenizer(folder)
    tokens = len(weights["embedding.table.weight"])
    if tokens < tokenizer.id_limit:
        raise CheckpointError(
            f"{where}: the model has {tokens:,} tokens, but the tokenizer {tokenizer.id_limit:,}; put the tokenizer "
            f"it was trained with beside it."
        )
    untrained = [part for part in (POOLER, MASKED_WORDS) if part not in parts]
    facts: dict[str, Any] = {UNTRAINED: untrained} if untrained else {}
    head: HeadSettings | None = None
    kind = head_kind(form, config)
    if kind is None:
        facts |= sentence_facts(folder)
    else:
        head, defaults = read_head(config, kind, where)
        facts |= defaults
        weights = {BODY + name: value for name, value in weights.items()} | head_to_ours(tensors, kind, str(folder))
    task = task_of(form, config)
    facts |= _own(folder / OWN, kind, settings.max_positions)
    schema = registry.task(task).files.facts
    check_record(facts, folder / OWN, schema, CheckpointError, f"the facts of a model of the task {task}")
    vocabularies = Vocabularies(tokens, tokens, is_shared=True)
    check_shapes(settings, vocabularies, weights, folder, head)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)
        model = build_model(settings, vocabularies, head).eval()
    fill(model, model.state_dict() | weights)
    return Bundle(task, model, settings, vocabularies, {"tokenizer": tokenizer}, facts, head)


def _own(path: Path, head: str | None, positions: int) -> dict[str, Any]:
    """Return the facts in the regard.json of a model that was written by regard."""
    values = read_object(path, Own)
    for name in ("length", "max_length"):
        if (values.get(name) or 0) > positions:
            raise CheckpointError(f"{path}: {name} is {values[name]:,}, but the model has {positions:,} positions.")
    return {name: values[name] for name in STORED_FACTS[head] if values.get(name) is not None}


def write_encoder(bundle: Bundle, settings: BertSettings, folder: Path, progress: Progress) -> EncoderArchitecture:
    """Write a model with its tokenizer and its task head or pretraining heads; return its architecture."""
    check_encoder(settings)
    gives_vectors = bundle.head is not None and bundle.head.kind == "similarity"
    if gives_vectors:
        bundle = as_sentence_encoder(bundle)
    form, parts = _form(bundle, settings)
    tokenizer = bundle.tokenizers["tokenizer"]
    config = encoder_config(settings, bundle.vocabularies.target, form) | {"pad_token_id": tokenizer.pad_id}
    for name in lost_in_encoder(settings):
        progress.warn(f"model.{name}: {getattr(settings, name)} is not written, BERT has no such setting.")
    weights = {name: tensor.float().cpu() for name, tensor in bundle.model.state_dict().items()}
    if bundle.head is None:
        tensors = encoder_to_theirs(weights, settings, parts)
    else:
        config |= head_config(bundle)
        tensors = encoder_to_theirs(_body(weights), settings, parts, has_head=True) | head_to_theirs(weights, bundle)

    def write(temporary: Path) -> None:
        write_json(temporary / CONFIG, config)
        write_tensors(temporary, tensors)
        write_encoder_tokenizer(temporary, tokenizer, settings.max_positions)
        own = remembered(bundle)
        if own:
            write_json(temporary / OWN, own)
        if gives_vectors:
            embed = TaskFacts.read(bundle).embed
            assert embed is not None, "a similarity model pools its texts"
            write_sentence_modules(temporary, settings.width, embed.model_dump(exclude_unset=True))

    write_new_folder(folder, write)
    return form


def _form(bundle: Bundle, settings: BertSettings) -> tuple[EncoderArchitecture, frozenset[str]]:
    """Return the architecture of a model, and its trained parts, which are written."""
    if bundle.head is not None:
        form = headed_architecture(bundle)
        return form, form.parts
    trained = {POOLER, MASKED_WORDS} - set(bundle.facts.get(UNTRAINED, ()))
    trained |= {NEXT_SENTENCE} if settings.next_sentence_head else set()
    form = next(form for form in ENCODER_ARCHITECTURES if form.parts <= trained)
    return form, form.parts or frozenset(trained & {POOLER})


def _body(weights: Weights) -> Weights:
    return {name.removeprefix(BODY): value for name, value in weights.items() if name.startswith(BODY)}
