"""Decoder-only Transformers: GPT (Radford et al., 2018), GPT-2 and GPT-3, with the choices made since as settings."""

import math
from typing import Literal, cast

from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.models.base.family import Family
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.base.tensor_parallel import BLOCKS
from regard.models.gpt.static_cache import StaticGptState
from regard.models.transformer.state import TransformerState
from regard.nn.attention.kv_cache import Cache, KeyValueCache
from regard.nn.blocks import Activation, BlockSettings, EncoderBlock, NormOrder, build_norm
from regard.nn.layers.embedding import TokenEmbedding, VocabularyHead, build_table
from regard.nn.layers.linear import as_product
from regard.nn.layers.positions import PositionKind, build_positions, check_widths
from regard.nn.probes.probe import Probe

SPREAD = 0.02
"""Standard deviation of initial weights (Radford et al., 2018, §4.1)."""


class GptSettings(BlockSettings, ModelSettings):
    """Architecture of a GPT, without the vocabulary."""

    family: Literal["gpt"] = "gpt"
    layers: int = Field(6, ge=1, le=1024)
    """Number of causal self-attention blocks."""
    activation: Activation = "gelu-tanh"
    """Activation between the two feed-forward projections; gelu-tanh: the approximation of GELU that GPTs use."""
    norm_order: NormOrder = "pre"
    """pre: x + f(norm(x)), as from GPT-2 on; post: norm(x + f(x)), as in the first; res-post: x + norm(f(x))."""
    positions: PositionKind = "learned"
    """Position encoding: sinusoidal or learned vectors added, rotary, alibi, relative bias, raw index, or none."""
    max_positions: int = Field(1024, ge=1)
    """Maximum number of positions, where they are learned."""
    embeddings: Literal["shared", "separate"] = "shared"
    """shared: one matrix for input embeddings and output projection; separate: two."""
    has_output_bias: bool = False
    """Add a bias to the output projection."""
    scales_embeddings: bool = False
    """Multiply embeddings by the square root of the width."""
    embedding_dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout on the sum of embeddings and positions."""

    @model_validator(mode="after")
    def _positions_fit(self) -> "GptSettings":
        check_widths(self.positions, self.width, self.width_of_head)
        return self


class Gpt(nn.Module):
    """A stack of causal self-attention blocks, and the output projection."""

    def __init__(self, settings: GptSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.settings = s = settings
        table = build_table(vocabularies.target, s.width)
        positions = build_positions(s.positions, s.width, s.heads, s.width_of_head, s.max_positions, is_causal=True)
        self.embedding = TokenEmbedding(table, positions, s.scales_embeddings, s.embedding_dropout)
        self.blocks = nn.ModuleList(EncoderBlock(s) for _ in range(s.layers))
        self.hidden = nn.ModuleList(Probe() for _ in self.blocks)  # (B, T, D) the output of each block
        self.norm = nn.Identity() if s.norm_order == "post" else build_norm(s)
        output = table if s.embeddings == "shared" else build_table(vocabularies.target, s.width)
        self.head = VocabularyHead(output, s.has_output_bias)
        self.max_positions = positions.limit
        self._initialize()

    def _initialize(self) -> None:
        """Initialize the weights."""
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding | VocabularyHead):
                nn.init.normal_(module.weight, std=SPREAD)
        if self.settings.norm_order == "pre":
            # Every block adds two vectors to the residual stream, which no norm bounds: with this scale the sum of
            # all 2 L has the variance of one at any depth (Radford et al., 2019, §2.3).
            spread = SPREAD / math.sqrt(2 * self.settings.layers)
            for block in self.blocks:
                assert isinstance(block, EncoderBlock)
                nn.init.normal_(block.attention.output.weight, std=spread)
                nn.init.normal_(block.feed_forward.outer.weight, std=spread)

    def start(self) -> TransformerState:
        """Return the state before the first token."""
        return TransformerState([KeyValueCache() for _ in self.blocks])

    def hidden_states(
        self, tokens: Tensor, state: TransformerState | None = None, token_mask: Tensor | None = None
    ) -> Tensor:
        """Return hidden states (R, T, D) of tokens (R, T); `token_mask` is False at padding before them."""
        rows, steps = tokens.shape
        if token_mask is not None and bool(token_mask.all()):
            token_mask = None  # without a mask, the fused kernel skips future positions
        past = TransformerState([]) if state is None else state
        caches: list[Cache | None] = [None] * len(self.blocks) if state is None else [*state.caches]
        past.check(self.embedding.positions, steps, token_mask)
        # Hypotheses of one sentence are further queries to the same keys, not copies of them.
        sentences = cast(KeyValueCache, caches[0]).sentences if past.length else rows
        positions, view = past.view(rows // sentences, steps, self.embedding.positions, self.head.weight, token_mask)
        x = self.embedding(tokens.reshape(sentences, -1), positions)  # (B, hypotheses * T, D)
        for block, cache, probe in zip(self.blocks, caches, self.hidden, strict=True):
            x = block(x, view, cache)
            if cast(Probe, probe).has_listener:
                x = probe(x)
        return self.finish(x).view(rows, steps, -1)

    def finish(self, hidden: Tensor) -> Tensor:
        """Return the final hidden states for a block's output: the last norm, where blocks are pre-norm."""
        return as_product(self.norm(hidden))

    def static_text_state(self, rows: int, slots: int) -> StaticGptState:
        """Return a static state for a number of texts with up to `slots` tokens each."""
        return StaticGptState(self, rows, slots)

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""
        return self.head(hidden)

    def forward(self, tokens: Tensor, token_mask: Tensor | None = None) -> Tensor:
        """Return logits (B, T, V) of every position at once."""
        return self.project(self.hidden_states(tokens, None, token_mask))


FAMILY = Family(GptSettings, Gpt, "causal-lm", tensor_parallel=BLOCKS)
