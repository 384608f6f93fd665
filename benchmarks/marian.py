"""A Hugging Face MarianMTModel of the same architecture, holding the same weights as a regard Transformer."""

import torch
from transformers import MarianConfig, MarianMTModel

from regard.data.encoding.batches import TranslationBatch
from regard.interop.huggingface.seq2seq_configs import config_for, form_for
from regard.interop.huggingface.seq2seq_weights import to_theirs
from regard.models.base.settings import Vocabularies
from regard.models.transformer.model import Transformer


def marian_like(model: Transformer, vocabulary: int, padding: int, start: int, end: int) -> MarianMTModel:
    """Return a Marian model that computes what `model` does (post-norm, sinusoidal positions, one vocabulary)."""
    vocabularies = Vocabularies(vocabulary, vocabulary, True)
    form = form_for(model.settings, vocabularies)
    config = config_for(model.settings, vocabularies, form)
    tokens = {"pad_token_id": padding, "bos_token_id": start, "eos_token_id": end, "decoder_start_token_id": start}
    peer = MarianMTModel(MarianConfig(**config, **tokens))
    tensors = to_theirs(model.state_dict(), model.settings, form, config["max_position_embeddings"])
    found = peer.load_state_dict(tensors, strict=False)  # tied tables stand there once
    assert not found.unexpected_keys, found.unexpected_keys
    return peer


def marian_inputs(batch: TranslationBatch) -> dict[str, torch.Tensor]:
    """Return the same batch in the words of Hugging Face."""
    labels = torch.full_like(batch.target, -100)
    labels.view(-1)[batch.label_positions] = batch.labels
    return {
        "input_ids": batch.source,
        "attention_mask": batch.source_mask.long(),
        "decoder_input_ids": batch.target,
        "labels": labels,
    }
