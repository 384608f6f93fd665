"""A Hugging Face MarianMTModel of the same architecture, holding the same weights as a regard Transformer."""

from typing import Any

import torch
from transformers import MarianConfig, MarianMTModel

from regard.data.batches import TranslationBatch
from regard.models.transformer import Transformer
from regard.nn import sinusoids


def marian_like(model: Transformer, vocabulary: int, padding: int, start: int, end: int) -> MarianMTModel:
    """Return a Marian model that computes what `model` does (post-norm, shared embeddings, sinusoidal positions)."""
    s = model.settings
    if s.norm_order != "post" or s.positions != "sinusoidal" or s.embeddings != "shared" or s.activation != "relu":
        raise ValueError("Marian is post-norm with sinusoidal positions, shared embeddings and one activation.")
    config = MarianConfig(
        vocab_size=vocabulary,
        d_model=s.width,
        encoder_layers=s.encoder_layers,
        decoder_layers=s.decoder_layers,
        encoder_attention_heads=s.heads,
        decoder_attention_heads=s.heads,
        encoder_ffn_dim=s.feed_forward_width,
        decoder_ffn_dim=s.feed_forward_width,
        activation_function="relu",
        dropout=s.dropout,
        attention_dropout=s.attention_dropout,
        activation_dropout=s.feed_forward_dropout,
        scale_embedding=True,
        max_position_embeddings=512,
        pad_token_id=padding,
        bos_token_id=start,
        eos_token_id=end,
        decoder_start_token_id=start,
        forced_eos_token_id=None,
        share_encoder_decoder_embeddings=True,
    )
    peer = MarianMTModel(config)
    with torch.no_grad():
        _copy(model, peer)
    return peer


def _copy(model: Transformer, peer: Any) -> None:
    peer.model.shared.weight.copy_(model.head.weight)
    table = sinusoids(torch.arange(512), model.settings.width)
    for ours, theirs in ((model.encoder, peer.model.encoder), (model.decoder, peer.model.decoder)):
        theirs.embed_positions.weight.copy_(table)
        for block, layer in zip(ours.blocks, theirs.layers, strict=True):
            _copy_attention(block.attention, layer.self_attn)
            _copy_linear(block.around_attention.norm, layer.self_attn_layer_norm)
            if hasattr(block, "cross"):
                _copy_attention(block.cross, layer.encoder_attn)
                _copy_linear(block.around_cross.norm, layer.encoder_attn_layer_norm)
            _copy_linear(block.feed_forward.inner, layer.fc1)
            _copy_linear(block.feed_forward.outer, layer.fc2)
            _copy_linear(block.around_feed_forward.norm, layer.final_layer_norm)


def _copy_attention(ours: Any, theirs: Any) -> None:
    if hasattr(ours, "query_key_value"):
        packed, names = ours.query_key_value, ("q_proj", "k_proj", "v_proj")
    else:
        packed, names = ours.key_value, ("k_proj", "v_proj")
        _copy_linear(ours.query, theirs.q_proj)
    for name, weight, bias in zip(names, packed.weight.chunk(len(names)), packed.bias.chunk(len(names)), strict=True):
        getattr(theirs, name).weight.copy_(weight)
        getattr(theirs, name).bias.copy_(bias)
    _copy_linear(ours.output, theirs.out_proj)


def _copy_linear(ours: Any, theirs: Any) -> None:
    theirs.weight.copy_(ours.weight)
    theirs.bias.copy_(ours.bias)


def marian_inputs(batch: TranslationBatch) -> dict[str, torch.Tensor]:
    """Return the same batch in the words of Hugging Face."""
    labels = torch.full_like(batch.target, -100)
    labels.view(-1)[batch.label_places] = batch.labels
    return {
        "input_ids": batch.source,
        "attention_mask": batch.source_real.long(),
        "decoder_input_ids": batch.target,
        "labels": labels,
    }
