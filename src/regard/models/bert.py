"""Encoder-only Transformers that read in both directions: BERT (Devlin et al., 2019)."""

from typing import Literal, cast

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.models.base.protocols import ModelSettings, Vocabularies
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
    """Everything that shapes a BERT but the vocabulary."""

    family: Literal["bert"] = "bert"
    layers: int = Field(4, ge=1, le=1024)
    """Blocks of self-attention."""
    activation: Activation = "gelu"
    """What stands between the two feed-forward products, and in the head for masked words."""
    norm_epsilon: float = Field(1e-12, gt=0)
    """Keeps a norm from dividing by nothing."""
    attention_dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout on attention weights (costs the fused kernel on CPU)."""
    positions: PositionKind = "learned"
    """How positions come in: added waves or vectors, rotary, alibi, relative, the raw index, or not at all."""
    max_positions: int = Field(512, ge=1)
    """Length of the table when positions are learned; the length texts are cut to in any case."""
    segments: int = Field(2, ge=1)
    """Kinds of segments: the first text and the second one."""
    embeddings: Literal["shared", "separate"] = "shared"
    """Whether masked words are scored with the table of embeddings (as BERT does) or with one of their own."""
    next_sentence_head: bool = True
    """Whether there is a head that tells if the second text follows the first."""
    embedding_dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout on the sum of token, position and segment, behind its norm."""
    init_std: float = Field(0.02, gt=0)
    """Standard deviation of weights at the start, that of the authors' code; a narrow model may do with more."""

    @model_validator(mode="after")
    def _positions_fit(self) -> "BertSettings":
        check_widths(self.positions, self.width, self.width_of_head)
        return self


class BertEmbedding(nn.Module):
    """A vector for each token, with those of its position and its segment added; a norm, and dropout."""

    is_narrow = False
    """Whether they are kept in the precision of products, half as wide."""

    def __init__(self, settings: BertSettings, table: nn.Embedding, positions: Positions) -> None:
        super().__init__()
        self.table = table
        self.positions = positions
        self.segments = build_table(settings.segments, settings.width)
        self.norm = build_norm(settings)
        self.dropout = Dropout(settings.embedding_dropout)

    def forward(self, tokens: Tensor, segments: Tensor | None, positions: Tensor) -> Tensor:
        """Return (B, T, D) for tokens (B, T) of segments (B, T), unset the first, at positions (T,) or (B, T)."""
        kinds = self.segments.weight[0] if segments is None else self.segments(segments)
        x = self.norm(self.positions.embed(self.table(tokens) + kinds, positions))
        return self.dropout(as_product(x) if self.is_narrow else x)


class Transform(nn.Module):
    """What stands before the scores of masked words: a layer, the activation and a norm."""

    def __init__(self, settings: BertSettings) -> None:
        super().__init__()
        self.dense = build_linear(settings.width, settings.width)
        self.activation = "silu" if settings.activation == "swiglu" else settings.activation  # no halves to gate
        self.norm = build_norm(settings)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return (..., D)."""
        return self.norm(ACTIVATIONS[self.activation](self.dense(hidden)))


class Bert(nn.Module):
    """Blocks of self-attention over whole texts, scores for masked words, and a head over the first token."""

    def __init__(self, settings: BertSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.settings = s = settings
        table = build_table(vocabularies.target, s.width)
        positions = build_positions(s.positions, s.width, s.heads, s.width_of_head, s.max_positions, is_causal=False)
        self.embedding = BertEmbedding(s, table, positions)
        self.embedded = Probe()  # (B, T, D) what the first block reads
        self.blocks = nn.ModuleList(EncoderBlock(s) for _ in range(s.layers))
        self.hidden = nn.ModuleList(Probe() for _ in self.blocks)  # (B, T, D) what each block hands on
        self.norm = nn.Identity() if s.norm_order == "post" else build_norm(s)
        self.transform = Transform(s)
        output = table if s.embeddings == "shared" else build_table(vocabularies.target, s.width)
        self.head = VocabularyHead(output, has_bias=True)
        self.pooler = build_linear(s.width, s.width)
        # Scores over `pool` that the second text follows the first, and that it does not, in the authors' order.
        self.next_sentence = build_linear(s.width, 2) if s.next_sentence_head else None
        self.max_positions = s.max_positions
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding | VocabularyHead):
                nn.init.normal_(module.weight, std=s.init_std)

    def hidden_states(
        self, tokens: Tensor, segments: Tensor | None = None, token_mask: Tensor | None = None
    ) -> Tensor:
        """Return hidden states (R, T, D) of tokens (R, T); `real` is False at the padding behind them.

        Padding changes nothing; whatever comes out at padding itself has no meaning. Where there is none, leave
        `real` out: attention without a mask is faster.
        """
        mask = None if token_mask is None else padding_mask(token_mask)
        steps = torch.arange(tokens.size(1), device=tokens.device)
        return self._read(tokens, segments, steps, steps, View(mask))

    def hidden_states_varlen(
        self, tokens: Tensor, segments: Tensor, positions: Tensor, bounds: Tensor, longest: int
    ) -> Tensor:
        """Return hidden states (N, D) of sequences that lie end to end, without any padding.

        Tokens, segments and positions are (N,); `bounds` (R + 1,) of int32 says where each sequence begins, and
        where the last ends, which is N; none is longer than `longest`.
        """
        lay = VarlenLayout(bounds, longest)
        mask = None if lay.is_full(tokens.numel()) else padding_mask(lay.token_mask())
        steps = torch.arange(longest, device=tokens.device)
        return self._read(tokens[None], segments[None], positions[None], steps, View(mask, lay=lay))[0]

    def _read(self, tokens: Tensor, segments: Tensor | None, positions: Tensor, steps: Tensor, view: View) -> Tensor:
        """Return (B, T, D); `steps` are the positions within a sequence that is looked at alone."""
        scheme = self.embedding.positions
        scheme.check(steps.numel())
        view = View(view.mask, bias=scheme.bias(steps, steps), rotation=scheme.rotation(positions), lay=view.lay)
        x = self.embedding(tokens, segments, positions)
        if self.embedded.is_heard:
            x = self.embedded(x)
        for block, probe in zip(self.blocks, self.hidden, strict=True):
            x = block(x, view)
            if cast(Probe, probe).is_heard:
                x = probe(x)
        return self.finish(x)

    def finish(self, hidden: Tensor) -> Tensor:
        """Return what heads are given for what a block hands on: pre-norm leaves the sum raw."""
        return self.norm(hidden)

    def pool(self, first: Tensor) -> Tensor:
        """Return what is known of a whole text (R, D) for the hidden states of first tokens (R, D)."""
        return self.pooler(first).tanh()

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V) of the words that were masked."""
        return self.head(self.transform(hidden))

    def forward(self, tokens: Tensor, segments: Tensor | None = None, token_mask: Tensor | None = None) -> Tensor:
        """Return logits (B, T, V) of every position."""
        return self.project(self.hidden_states(tokens, segments, token_mask))
