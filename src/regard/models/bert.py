"""Encoder-only Transformers with bidirectional attention: BERT (Devlin et al., 2019)."""

from typing import Literal, cast

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.models.base.family import Family
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.base.tensor_parallel import BLOCKS
from regard.nn.attention.attention import View
from regard.nn.attention.masks import padding_mask
from regard.nn.attention.varlen import VarlenLayout
from regard.nn.blocks import ACTIVATIONS, Activation, BlockSettings, EncoderBlock, build_norm
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.embedding import VocabularyHead, build_table
from regard.nn.layers.linear import as_product, build_linear
from regard.nn.layers.positions import PositionKind, Positions, build_positions, check_widths
from regard.nn.probes.probe import Probe


class BertSettings(BlockSettings, ModelSettings):
    """Architecture of a BERT, without the vocabulary."""

    family: Literal["bert"] = "bert"
    layers: int = Field(4, ge=1, le=1024)
    """Number of self-attention blocks."""
    activation: Activation = "gelu"
    """Activation between the two feed-forward projections, and in the masked-LM head."""
    norm_epsilon: float = Field(1e-12, gt=0)
    """Epsilon of the norms."""
    attention_dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout on attention weights (disables the fused kernel on a CPU)."""
    positions: PositionKind = "learned"
    """Position encoding: sinusoidal or learned vectors added, rotary, alibi, relative bias, raw index, or none."""
    max_positions: int = Field(512, ge=1)
    """Maximum number of positions; longer texts are truncated with every position encoding."""
    segments: int = Field(2, ge=1)
    """Number of segment embeddings: for the first and the second text."""
    embeddings: Literal["shared", "separate"] = "shared"
    """shared: the masked-LM head uses the embedding matrix, as BERT does; separate: it has its own."""
    next_sentence_head: bool = True
    """Add a next-sentence prediction head."""
    embedding_dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout on the sum of token, position and segment embeddings, after its norm."""
    init_std: float = Field(0.02, gt=0)
    """Standard deviation of initial weights (0.02 in the authors' code; narrow models may need more)."""

    @model_validator(mode="after")
    def _positions_fit(self) -> "BertSettings":
        check_widths(self.positions, self.width, self.width_of_head)
        return self


class BertEmbedding(nn.Module):
    """Sum of token, position and segment embeddings, then norm and dropout."""

    is_half_precision = False
    """True: the output has the precision of matrix products, bf16."""

    def __init__(self, settings: BertSettings, table: nn.Embedding, positions: Positions) -> None:
        super().__init__()
        self.table = table
        self.positions = positions
        self.segments = build_table(settings.segments, settings.width)
        self.norm = build_norm(settings)
        self.dropout = Dropout(settings.embedding_dropout)

    def forward(self, tokens: Tensor, segments: Tensor | None, positions: Tensor) -> Tensor:
        """Return (B, T, D) for tokens (B, T) of segments (B, T) (None: the first) at positions (T,) or (B, T)."""
        kinds = self.segments.weight[0] if segments is None else self.segments(segments)
        x = self.norm(self.positions.embed(self.table(tokens) + kinds, positions))
        return self.dropout(as_product(x) if self.is_half_precision else x)


class Transform(nn.Module):
    """The transform of the masked-LM head: a linear layer, the activation and a norm."""

    def __init__(self, settings: BertSettings) -> None:
        super().__init__()
        self.dense = build_linear(settings.width, settings.width)
        self.activation = "silu" if settings.activation == "swiglu" else settings.activation  # no halves to gate
        self.norm = build_norm(settings)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the transformed states (..., D)."""
        return self.norm(ACTIVATIONS[self.activation](self.dense(hidden)))


class Bert(nn.Module):
    """A stack of bidirectional self-attention blocks, a masked-LM head, and a pooler over the first token."""

    def __init__(self, settings: BertSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.settings = s = settings
        table = build_table(vocabularies.target, s.width)
        positions = build_positions(s.positions, s.width, s.heads, s.width_of_head, s.max_positions, is_causal=False)
        self.embedding = BertEmbedding(s, table, positions)
        self.embedded = Probe()  # (B, T, D) the input of the first block
        self.blocks = nn.ModuleList(EncoderBlock(s) for _ in range(s.layers))
        self.hidden = nn.ModuleList(Probe() for _ in self.blocks)  # (B, T, D) the output of each block
        self.norm = nn.Identity() if s.norm_order == "post" else build_norm(s)
        self.transform = Transform(s)
        output = table if s.embeddings == "shared" else build_table(vocabularies.target, s.width)
        self.head = VocabularyHead(output, has_bias=True)
        self.pooler = build_linear(s.width, s.width)
        # Logits over `pool`: the second text follows the first, or does not, in the authors' order.
        self.next_sentence = build_linear(s.width, 2) if s.next_sentence_head else None
        self.max_positions = s.max_positions
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding | VocabularyHead):
                nn.init.normal_(module.weight, std=s.init_std)

    def hidden_states(
        self, tokens: Tensor, segments: Tensor | None = None, token_mask: Tensor | None = None
    ) -> Tensor:
        """Return hidden states (R, T, D) of tokens (R, T); `token_mask` is False at the padding after them.

        Padding has no effect on other positions; outputs at padding are meaningless. Without padding, omit the mask:
        attention without one is faster.
        """
        mask = None if token_mask is None else padding_mask(token_mask)
        steps = torch.arange(tokens.size(1), device=tokens.device)
        return self._forward(tokens, segments, steps, steps, View(mask))

    def hidden_states_varlen(
        self, tokens: Tensor, segments: Tensor, positions: Tensor, cu_seqlens: Tensor, max_seqlen: int
    ) -> Tensor:
        """Return hidden states (N, D) of concatenated sequences, without any padding.

        Tokens, segments and positions are (N,); `cu_seqlens` (R + 1,) of int32 are the offsets of the sequences,
        the last of them N; none is longer than `max_seqlen`.
        """
        lay = VarlenLayout(cu_seqlens, max_seqlen)
        mask = None if lay.is_full(tokens.numel()) else padding_mask(lay.token_mask())
        steps = torch.arange(max_seqlen, device=tokens.device)
        return self._forward(tokens[None], segments[None], positions[None], steps, View(mask, lay=lay))[0]

    def _forward(
        self, tokens: Tensor, segments: Tensor | None, positions: Tensor, steps: Tensor, view: View
    ) -> Tensor:
        """Return hidden states (B, T, D); `steps` are the positions within a single sequence."""
        scheme = self.embedding.positions
        scheme.check(steps.numel())
        view = View(view.mask, bias=scheme.bias(steps, steps), rotation=scheme.rotation(positions), lay=view.lay)
        x = self.embedding(tokens, segments, positions)
        if self.embedded.has_listener:
            x = self.embedded(x)
        for block, probe in zip(self.blocks, self.hidden, strict=True):
            x = block(x, view)
            if cast(Probe, probe).has_listener:
                x = probe(x)
        return self.finish(x)

    def finish(self, hidden: Tensor) -> Tensor:
        """Return the final hidden states for a block's output: the last norm, where blocks are pre-norm."""
        return self.norm(hidden)

    def pool(self, first: Tensor) -> Tensor:
        """Return the pooled representation (R, D) of the [CLS] states (R, D)."""
        return self.pooler(first).tanh()

    def project(self, hidden: Tensor) -> Tensor:
        """Return masked-LM logits (..., V)."""
        return self.head(self.transform(hidden))

    def forward(self, tokens: Tensor, segments: Tensor | None = None, token_mask: Tensor | None = None) -> Tensor:
        """Return logits (B, T, V) of every position."""
        return self.project(self.hidden_states(tokens, segments, token_mask))


FAMILY = Family(BertSettings, Bert, "encoder", tensor_parallel=BLOCKS)
