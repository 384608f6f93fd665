"""A text encoder to and from a Hugging Face folder (BERT, with the heads of pretraining or without)."""

from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import Bundle, write_json
from regard.errors import CheckpointError
from regard.interop.encoder_forms import (
    ENCODER_FORMS,
    MASKED_WORDS,
    NEXT_SENTENCE,
    POOLER,
    TASK,
    EncoderForm,
    check_encoder,
    encoder_config,
    encoder_settings,
    lost_in_encoder,
)
from regard.interop.encoder_tensors import encoder_to_ours, encoder_to_theirs, parts_in, with_new_names
from regard.interop.encoder_tokens import read_encoder_tokenizer, write_encoder_tokenizer
from regard.interop.folder import CONFIG, fill, read_tensors, write_tensors, write_whole
from regard.interop.forms import checked
from regard.interop.sentences import sentence_facts
from regard.models import Vocabularies, build_model
from regard.models.bert import BertSettings
from regard.progress import Progress

UNTRAINED = "untrained"
"""The fact that names the parts of a model which its folder did not hold: what they give means nothing."""


def read_encoder(folder: Path, config: dict[str, Any], form: EncoderForm) -> Bundle:
    """Read a BERT; it comes back in eval mode. Parts it does not have are drawn, always the same, and named."""
    where = str(folder / CONFIG)
    tensors = with_new_names(read_tensors(folder))
    parts = parts_in(tensors) | form.parts
    settings = checked(
        BertSettings, encoder_settings(config, where) | {"has_next_sentence": NEXT_SENTENCE in parts}, where
    )
    weights = encoder_to_ours(tensors, settings, parts, str(folder))
    tokenizer = read_encoder_tokenizer(folder)
    tokens = len(weights["embedding.table.weight"])
    needed = 1 + max(*tokenizer.specials, *tokenizer.vocabulary)
    if tokens < needed:
        raise CheckpointError(
            f"{where}: the model has {tokens:,} tokens, but the tokenizer {needed:,}; put the tokenizer it was "
            f"trained with beside it."
        )
    vocabularies = Vocabularies(tokens, tokens, is_shared=True)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)
        model = build_model(settings, vocabularies).eval()
    untrained = [part for part in (POOLER, MASKED_WORDS) if part not in parts]
    fill(model, model.state_dict() | weights, folder)
    facts = ({UNTRAINED: untrained} if untrained else {}) | sentence_facts(folder)
    return Bundle(TASK, model, settings, vocabularies, {"tokenizer": tokenizer}, facts)


def write_encoder(bundle: Bundle, settings: BertSettings, folder: Path, progress: Progress) -> EncoderForm:
    """Write a model with its tokenizer, with the heads that have learned something, and return its form."""
    check_encoder(settings)
    had = {POOLER, MASKED_WORDS} - set(bundle.facts.get(UNTRAINED, ()))
    had |= {NEXT_SENTENCE} if settings.has_next_sentence else set()
    form = next(form for form in ENCODER_FORMS if form.parts <= had)
    parts = form.parts or frozenset(had & {POOLER})
    tokenizer = bundle.tokenizers["tokenizer"]
    config = encoder_config(settings, bundle.vocabularies.target, form) | {"pad_token_id": tokenizer.padding}
    for name in lost_in_encoder(settings):
        progress.warn(f"model.{name}: {getattr(settings, name)} is not written, BERT has no such setting.")
    weights = {name: tensor.float().cpu() for name, tensor in bundle.model.state_dict().items()}
    tensors = encoder_to_theirs(weights, settings, parts)

    def write(aside: Path) -> None:
        write_json(aside / CONFIG, config)
        write_tensors(aside, tensors)
        write_encoder_tokenizer(aside, tokenizer, settings.max_positions)

    write_whole(folder, write)
    return form
