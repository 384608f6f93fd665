"""Results of a language model as frozen values: completions, next tokens, scores of texts."""

import math
from dataclasses import dataclass

from regard.decoding.steppers.interface import FinishReason
from regard.metrics.perplexity import bits_per_byte, perplexity, word_perplexity


@dataclass(frozen=True)
class Completion:
    """The continuation of a prompt with the log probability of each token."""

    prompt: str
    text: str
    """The new text, cut off before a stop text."""
    tokens: tuple[str, ...]
    """All new tokens, EOS and those of a stop text included."""
    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    """Of the unfiltered distribution, before temperature, top-k, top-p and constraints."""
    finish_reason: FinishReason
    """eos: EOS; length: max_new_tokens; stop: a stop text."""
    samples: tuple["Completion", ...] = ()
    """All continuations of the prompt, this one first, where num_samples is above 1; of a beam search, best first."""

    @property
    def log_probability(self) -> float:
        """The sum over all tokens."""
        return math.fsum(self.log_probabilities)


@dataclass(frozen=True)
class NextToken:
    """A candidate for the next token with its probability."""

    token: str
    id: int
    probability: float


@dataclass(frozen=True)
class TextScore:
    """The log probability of each token of a text, given those before it."""

    text: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    alternatives: tuple[tuple[NextToken, ...], ...] = ()
    """The most probable tokens at each position, best first, where they were asked for."""

    @property
    def log_probability(self) -> float:
        """The sum over all tokens."""
        return math.fsum(self.log_probabilities)

    @property
    def perplexity(self) -> float:
        """Perplexity per token."""
        return perplexity([self])

    @property
    def word_perplexity(self) -> float:
        """Perplexity per word, which does not depend on the tokenizer."""
        return word_perplexity([self])

    @property
    def bits_per_byte(self) -> float:
        """Bits per byte of the text."""
        return bits_per_byte([self])
