"""What every family promises, so that one loop, one beam search and one inspector serve them all."""

from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

from torch import Tensor
from typing_extensions import TypeIs

from regard.config.settings import Settings
from regard.nn.layers.embedding import VocabularyHead

IN_EVERY_FAMILY = ("embeddings", "dropout", "embedding_dropout")
"""Settings that mean the same in every family: a recipe's values of them hold for whichever is chosen."""


class ModelSettings(Settings):
    """What all families' settings have in common."""

    family: str
    """Which model it is: the name of a family."""
    preset: str | None = None
    """The preset these settings started from."""
    width: int
    """Width of the model's vectors."""


@dataclass(frozen=True)
class Vocabularies:
    """How many tokens there are on each side, and whether both sides share one vocabulary."""

    source: int
    target: int
    is_shared: bool


class Memory(Protocol):
    """What the encoder leaves for the decoder, one row a sentence; opaque but for `select`."""

    def select(self, rows: Tensor) -> Self:
        """Return the memory of some sentences."""


class DecoderState(Protocol):
    """What the decoder keeps between steps, one row a hypothesis; `decode` updates it in place."""

    def select(self, hypotheses: Tensor, sentences: Tensor | None = None) -> Self:
        """Return the state of some hypotheses (R,), in the order given; the old one must not be used again.

        They stay with their sentences, as many for each, and `sentences` (B,) are those that stay; unset: all.
        """


class StaticState(Protocol):
    """Memory and state of up to so many sentences in places that never move, so that a step can be recorded."""

    @property
    def size(self) -> int:
        """Bytes held."""

    def begin(self, source: Tensor, token_mask: Tensor) -> None:
        """Read sources (B, S) and stand before the first step, in place."""

    def load(self, memory: Any, state: Any) -> int:
        """Take over the memory and state of some sentences, and return for how many steps there is room."""

    def unload(self, sentences: Tensor, steps: int) -> tuple[Memory, DecoderState]:
        """Return the memory and state of some of the sentences, so many steps after they were loaded."""

    def step(self, tokens: Tensor, order: Tensor) -> Tensor:
        """Return the logits (R, V) after tokens (R,) of hypotheses that go on from others (R,); all in place."""


@runtime_checkable
class SupportsCudaGraphs(Protocol):
    """A model whose decoding steps can be recorded."""

    def static_state(self, sentences: int, length: int, hypotheses: int, steps: int) -> StaticState:
        """Return room for the steps of so many sentences with sources of some length."""


@runtime_checkable
class SupportsTextCudaGraphs(Protocol):
    """A language model whose steps can be recorded."""

    def static_text_state(self, rows: int, slots: int) -> Any:
        """Return room for the steps of so many texts of up to so many tokens."""


@runtime_checkable
class Scheduled(Protocol):
    """A model of which something changes in the course of training."""

    def advance(self, share: float) -> None:
        """Take note of the share of training that is done, in place (a CUDA graph reads it there)."""


@runtime_checkable
class SupportsLogitLens(Protocol):
    """A language model whose blocks write into one stream, so that scores can be made behind any of them.

    Its probes `hidden.N` hear what each block hands on.
    """

    def finish(self, hidden: Tensor) -> Tensor:
        """Return what scores are made from for what a block hands on, as if it was the last."""


class CausalLM(Protocol):
    """A model of p(text): each token, given those before it."""

    head: VocabularyHead
    max_positions: int | None
    """The longest sequence it takes, None where there is no bound."""

    def start(self) -> DecoderState:
        """Return the state before the first token."""

    def hidden_states(self, tokens: Tensor, state: Any = None, token_mask: Tensor | None = None) -> Tensor:
        """Return hidden states (R, T, D) of tokens (R, T), each made from itself and those before it.

        Without a state, all positions are new. With one, `tokens` holds those after the ones it has seen, and the R
        rows may be several hypotheses for each row of the first read.

        `real` is False where padding stands before the tokens of a row (never behind them, and only in a first read).
        It changes nothing: whatever comes out at padding itself has no meaning.
        """

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""


class TextEncoder(Protocol):
    """A model that reads whole texts in both directions: each token is seen by every other."""

    head: VocabularyHead
    max_positions: int
    """The longest sequence it takes."""

    def hidden_states(
        self, tokens: Tensor, segments: Tensor | None = None, token_mask: Tensor | None = None
    ) -> Tensor:
        """Return hidden states (R, T, D) of tokens (R, T), which may be of several segments (R, T).

        `real` is False where padding stands behind the tokens of a row. It changes nothing: whatever comes out at
        padding itself has no meaning.
        """

    def hidden_states_varlen(
        self, tokens: Tensor, segments: Tensor, positions: Tensor, bounds: Tensor, longest: int
    ) -> Tensor:
        """Return hidden states (N, D) of sequences that lie end to end, without any padding.

        Tokens, segments and positions are (N,); `bounds` (R + 1,) of int32 says where each sequence begins, and
        where the last ends, which is N; none is longer than `longest`.
        """

    def pool(self, first: Tensor) -> Tensor:
        """Return what is known of a whole text (R, D) for the hidden states of first tokens (R, D)."""

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V) of the words that were masked."""


class BidirectionalLM(Protocol):
    """Two language models, one in either direction, over words that are read as characters.

    It reads as a `TextEncoder` does, but for segments and positions, which mean nothing to it.
    """

    head: VocabularyHead
    """Scores of words, for what one direction knows (..., D)."""
    vector_width: int
    """Width of what both directions know together."""

    def layers(self, tokens: Tensor, bounds: Tensor) -> Any:
        """Return the states (R, T, 2 D) of all layers word by word, and to which word each token (N,) belongs."""


class ConditionalMaskedLM(Protocol):
    """A model of how long a target is, and of its masked words given the source and all words that are known."""

    head: VocabularyHead
    max_positions: int | None
    """The longest sequence it takes, None where there is no bound."""
    max_length_offset: int
    """How many tokens shorter or longer than its source a target may be."""

    def encode(self, source: Tensor, token_mask: Tensor, is_alone: bool = False) -> Memory:
        """Read source tokens (B, S); `real` is True where one is no padding.

        A model that is alone is neither trained nor listened to, and may do the same in another way.
        """

    def length_scores(self, memory: Any) -> Tensor:
        """Return the logits (B, C) of how many tokens longer than its source a target is.

        The first stands for the most that it may be shorter; end tokens are counted on both sides.
        """

    def ready(self, memory: Any) -> Memory:
        """Return the memory with all that does not change from pass to pass."""

    def decode(self, target: Tensor, memory: Any, token_mask: Tensor, is_alone: bool = False) -> Tensor:
        """Return hidden states (R, T, D) of target tokens (R, T), one row for each of the memory.

        Masked words are given as the start token, which has no other use here. `real` is False where padding stands
        behind the tokens of a row.
        """

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""


def is_conditional_masked(model: object) -> TypeIs[ConditionalMaskedLM]:
    """Tell whether a model fills in masked words of a target.

    By name: from Python 3.12 on, `isinstance` of a protocol does not see the submodules of a model.
    """
    return hasattr(model, "length_scores")


class Seq2Seq(Protocol):
    """A model of p(target | source)."""

    head: VocabularyHead
    max_positions: int | None
    """The longest sequence it takes, None where there is no bound."""

    def encode(self, source: Tensor, token_mask: Tensor) -> Memory:
        """Read source tokens (B, S); `real` is True where one is no padding."""

    def start(self) -> DecoderState:
        """Return the state before the first step."""

    def decode(self, target: Tensor, memory: Memory, state: DecoderState | None = None) -> Tensor:
        """Return hidden states (R, T, D) of target tokens (R, T).

        Without a state, all positions are new. With one, `target` holds the tokens after those it has seen, and
        the R rows may be several hypotheses for each sentence of the memory.
        """

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""
