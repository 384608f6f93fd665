"""Protocols of model families: the interfaces that training, decoding and inspection rely on."""

from typing import Any, Protocol, Self, runtime_checkable

from torch import Tensor
from typing_extensions import TypeIs

from regard.nn.layers.embedding import VocabularyHead


class Memory(Protocol):
    """The encoder's output for the decoder, one row for each sentence; opaque except for `select`."""

    def select(self, rows: Tensor) -> Self:
        """Return the memory of some sentences; once decoding has begun, the old one must not be used again."""

    def join(self, other: Self) -> Self:
        """Return the memory of these sentences and then those of another batch, whose decoding has begun too.

        Neither of the two must be used again.
        """


class DecoderState(Protocol):
    """The decoder's state between steps, one row for each hypothesis; `decode` updates it in place."""

    def select(self, hypotheses: Tensor, sentences: Tensor | None = None) -> Self:
        """Return the state of some hypotheses (R,), in the order given; the old state must not be used again.

        They are grouped by sentence, the same number for each; `sentences` (B,) are those that stay (default: all).
        """

    def join(self, other: Self) -> Self:
        """Return the state of these rows and then those of another batch, with as many hypotheses a sentence.

        Their lengths may differ; neither of the two states must be used again.
        """


class StaticState(Protocol):
    """Memory and decoder state in static buffers for a maximum batch, so that a CUDA graph can hold a step."""

    @property
    def size(self) -> int:
        """Bytes held."""

    def begin(self, source: Tensor, token_mask: Tensor) -> None:
        """Encode sources (B, S) and reset the state, in place."""

    def load(self, memory: Any, state: Any) -> int:
        """Copy in the memory and state of some sentences; return the number of steps that fit."""

    def unload(self, sentences: Tensor, steps: int) -> tuple[Memory, DecoderState]:
        """Return the memory and state of some sentences, `steps` steps after they were loaded."""

    def step(self, tokens: Tensor, order: Tensor) -> Tensor:
        """Return the logits (R, V) after tokens (R,) that extend the hypotheses `order` (R,); updates in place."""


@runtime_checkable
class SupportsCudaGraphs(Protocol):
    """An encoder-decoder model whose decoding steps CUDA graphs can capture."""

    def static_state(self, sentences: int, length: int, hypotheses: int, steps: int) -> StaticState:
        """Return a static state for a number of sentences, source tokens, hypotheses a sentence, and steps."""


@runtime_checkable
class SupportsTextCudaGraphs(Protocol):
    """A causal language model whose decoding steps CUDA graphs can capture."""

    def static_text_state(self, rows: int, slots: int) -> Any:
        """Return a static state for a number of texts with up to `slots` tokens each."""


@runtime_checkable
class Scheduled(Protocol):
    """A model with a schedule over the course of training."""

    def advance(self, progress: float) -> None:
        """Store the fraction of training that is done, in place (a CUDA graph reads it there)."""


@runtime_checkable
class SupportsLogitLens(Protocol):
    """A language model with a residual stream, so that logits can be computed after any block (logit lens).

    Its probes `hidden.N` have the output of each block.
    """

    def finish(self, hidden: Tensor) -> Tensor:
        """Return the final hidden states for a block's output, as if it was the last block."""


class CausalLM(Protocol):
    """A model of p(text): each token, given those before it."""

    head: VocabularyHead
    max_positions: int | None
    """Maximum sequence length in tokens; None: no limit."""

    def start(self) -> DecoderState:
        """Return the state before the first token."""

    def hidden_states(self, tokens: Tensor, state: Any = None, token_mask: Tensor | None = None) -> Tensor:
        """Return hidden states (R, T, D) of tokens (R, T), each a function of itself and those before it.

        Without a state, all positions are new. With one, `tokens` follow those of earlier calls, and the R rows may
        be several hypotheses for each row of the first call.

        `token_mask` is False at left padding (no other is allowed, and in the first call only). Padding has no effect
        on other positions; outputs at padding are meaningless.
        """

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""


class TextEncoder(Protocol):
    """A bidirectional encoder of whole texts: every token attends to every other."""

    head: VocabularyHead
    max_positions: int
    """Maximum sequence length in tokens."""

    def hidden_states(
        self, tokens: Tensor, segments: Tensor | None = None, token_mask: Tensor | None = None
    ) -> Tensor:
        """Return hidden states (R, T, D) of tokens (R, T), which may be of several segments (R, T).

        `token_mask` is False at the padding after the tokens of a row, which has no effect on other positions;
        outputs at padding are meaningless.
        """

    def hidden_states_varlen(
        self, tokens: Tensor, segments: Tensor, positions: Tensor, cu_seqlens: Tensor, max_seqlen: int
    ) -> Tensor:
        """Return hidden states (N, D) of concatenated sequences, without any padding.

        Tokens, segments and positions are (N,); `cu_seqlens` (R + 1,) of int32 are the offsets of the sequences,
        the last of them N; none is longer than `max_seqlen`.
        """

    def pool(self, first: Tensor) -> Tensor:
        """Return the pooled representation (R, D) of the [CLS] states (R, D)."""

    def project(self, hidden: Tensor) -> Tensor:
        """Return masked-LM logits (..., V)."""


class BidirectionalLM(Protocol):
    """A forward and a backward language model over words that are composed from characters.

    It has the interface of a `TextEncoder`, but ignores segments and positions.
    """

    head: VocabularyHead
    """Word logits for the states of one direction (..., D)."""
    vector_width: int
    """Width of the concatenated states of both directions."""

    def layers(self, tokens: Tensor, cu_seqlens: Tensor) -> Any:
        """Return the word states (R, T, 2 D) of all layers, and the word that each token (N,) belongs to."""


class ConditionalMaskedLM(Protocol):
    """A model of target lengths, and of masked target tokens given the source and the other target tokens."""

    head: VocabularyHead
    max_positions: int | None
    """Maximum sequence length in tokens; None: no limit."""
    max_length_offset: int
    """Maximum difference between target and source length, in tokens."""

    def encode(self, source: Tensor, token_mask: Tensor, is_alone: bool = False) -> Memory:
        """Return the memory of source tokens (B, S); `token_mask` is False at padding.

        With `is_alone` the model is neither trained nor probed, and may use fused kernels.
        """

    def length_scores(self, memory: Any) -> Tensor:
        """Return the logits (B, C) of the target length minus the source length, in tokens with EOS.

        Class 0 is `-max_length_offset`.
        """

    def ready(self, memory: Any) -> Memory:
        """Return the memory with everything precomputed that is the same in all iterations."""

    def decode(self, target: Tensor, memory: Any, token_mask: Tensor, is_alone: bool = False) -> Tensor:
        """Return hidden states (R, T, D) of target tokens (R, T), one row for each of the memory.

        BOS serves as the mask token. `token_mask` is False at the padding after the tokens of a row.
        """

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""


def is_conditional_masked(model: object) -> TypeIs[ConditionalMaskedLM]:
    """Return True if a model is a conditional masked language model.

    By attribute: from Python 3.12 on, `isinstance` with a protocol does not find a model's submodules.
    """
    return hasattr(model, "length_scores")


class Seq2Seq(Protocol):
    """A model of p(target | source)."""

    head: VocabularyHead
    max_positions: int | None
    """Maximum sequence length in tokens; None: no limit."""

    def encode(self, source: Tensor, token_mask: Tensor) -> Memory:
        """Return the memory of source tokens (B, S); `token_mask` is False at padding."""

    def start(self) -> DecoderState:
        """Return the state before the first step."""

    def decode(self, target: Tensor, memory: Memory, state: DecoderState | None = None) -> Tensor:
        """Return hidden states (R, T, D) of target tokens (R, T).

        Without a state, all positions are new. With one, `target` follows the tokens of earlier calls, and the R
        rows may be several hypotheses for each sentence of the memory.
        """

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""
