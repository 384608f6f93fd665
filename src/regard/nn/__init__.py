"""Each mechanism once: attention, alignment, masks, positions, blocks, recurrence, cache, embeddings, probes."""

from regard.nn.alignment import AlignedAttention, Alignment, AlignmentKind, build_alignment
from regard.nn.attention import CrossAttention, SelfAttention, View, attention_weights
from regard.nn.blocks import (
    ACTIVATIONS,
    Activation,
    BlockSettings,
    DecoderBlock,
    EncoderBlock,
    NormOrder,
    build_norm,
)
from regard.nn.cache import Cache, KeyValueCache
from regard.nn.convolution import GatedConvolution
from regard.nn.dropout import Dropout
from regard.nn.embedding import TokenEmbedding, VocabularyHead, build_table
from regard.nn.end_to_end import EndToEnd
from regard.nn.int8 import can_multiply_int8, drop_int8, hold_int8, own_weights
from regard.nn.linear import as_product, build_linear
from regard.nn.masks import as_bias, behind_padding_mask, branch_mask, causal_mask, padding_mask
from regard.nn.memory import is_out_of_memory, nothing_collected, release_memory, with_less_at_once
from regard.nn.mix import LayerMix
from regard.nn.packed import forget_packed, packed
from regard.nn.positions import PositionKind, Positions, build_positions, check_widths, sinusoids
from regard.nn.probe import Listener, Probe, listening, probes
from regard.nn.recurrent import (
    CELLS,
    BidirectionalLayer,
    CellKind,
    ForwardLayer,
    LayerState,
    RecurrentLayer,
    turned,
    turned_places,
)
from regard.nn.repeated import Repeated
from regard.nn.spelled_table import SpelledTable
from regard.nn.spelling import CharacterWords, spell
from regard.nn.threads import threads_for
from regard.nn.trace import Trace

__all__ = [
    "ACTIVATIONS",
    "CELLS",
    "Activation",
    "AlignedAttention",
    "Alignment",
    "AlignmentKind",
    "BidirectionalLayer",
    "BlockSettings",
    "Cache",
    "CellKind",
    "CharacterWords",
    "CrossAttention",
    "DecoderBlock",
    "Dropout",
    "EncoderBlock",
    "EndToEnd",
    "ForwardLayer",
    "GatedConvolution",
    "KeyValueCache",
    "LayerMix",
    "LayerState",
    "Listener",
    "NormOrder",
    "PositionKind",
    "Positions",
    "Probe",
    "RecurrentLayer",
    "Repeated",
    "SelfAttention",
    "SpelledTable",
    "TokenEmbedding",
    "Trace",
    "View",
    "VocabularyHead",
    "as_bias",
    "as_product",
    "attention_weights",
    "behind_padding_mask",
    "branch_mask",
    "build_alignment",
    "build_linear",
    "build_norm",
    "build_positions",
    "build_table",
    "can_multiply_int8",
    "causal_mask",
    "check_widths",
    "drop_int8",
    "forget_packed",
    "hold_int8",
    "is_out_of_memory",
    "listening",
    "nothing_collected",
    "own_weights",
    "packed",
    "padding_mask",
    "probes",
    "release_memory",
    "sinusoids",
    "spell",
    "threads_for",
    "turned",
    "turned_places",
    "with_less_at_once",
]
