"""Each mechanism once: attention, masks, positions, blocks, cache, embeddings, probes."""

from regard.nn.attention import CrossAttention, SelfAttention, View, attention_weights
from regard.nn.blocks import BlockSettings, DecoderBlock, EncoderBlock, build_norm
from regard.nn.cache import Cache, KeyValueCache
from regard.nn.embedding import TokenEmbedding, VocabularyHead, build_table
from regard.nn.masks import as_bias, branch_mask, causal_mask, padding_mask
from regard.nn.packed import forget_packed, packed
from regard.nn.positions import PositionKind, Positions, build_positions, sinusoids
from regard.nn.probe import Listener, Probe, listening, probes
from regard.nn.threads import threads_for
from regard.nn.trace import Trace

__all__ = [
    "BlockSettings",
    "Cache",
    "CrossAttention",
    "DecoderBlock",
    "EncoderBlock",
    "KeyValueCache",
    "Listener",
    "PositionKind",
    "Positions",
    "Probe",
    "SelfAttention",
    "TokenEmbedding",
    "Trace",
    "View",
    "VocabularyHead",
    "as_bias",
    "attention_weights",
    "branch_mask",
    "build_norm",
    "build_positions",
    "build_table",
    "causal_mask",
    "forget_packed",
    "listening",
    "packed",
    "padding_mask",
    "probes",
    "sinusoids",
    "threads_for",
]
