"""What a language model answers: small frozen values."""

import math
from dataclasses import dataclass

from regard.decoding.steppers.requests import FinishReason
from regard.metrics.perplexity import bits_per_byte, perplexity, word_perplexity


@dataclass(frozen=True)
class Completion:
    """A text that follows a prompt, and what the model gives each of its tokens."""

    prompt: str
    text: str
    """The new text, cut off before a text to stop at."""
    tokens: tuple[str, ...]
    """All new tokens: the end token, and those of a text to stop at, too."""
    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    """As the model has them, whatever filters and constraints led to each token."""
    finish_reason: FinishReason
    """The end token, as many tokens as were asked for, or a text to stop at."""
    samples: tuple["Completion", ...] = ()
    """All continuations of the prompt, this one first, where several were asked for."""

    @property
    def log_probability(self) -> float:
        """The sum over all tokens."""
        return math.fsum(self.log_probabilities)


@dataclass(frozen=True)
class NextToken:
    """A token that could come next, and its probability."""

    token: str
    id: int
    probability: float


@dataclass(frozen=True)
class TextScore:
    """How probable a text is: each of its tokens, given those before it, and all of them."""

    text: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    alternatives: tuple[tuple[NextToken, ...], ...] = ()
    """The most probable tokens in the place of each, best first, where they were asked for."""

    @property
    def log_probability(self) -> float:
        """The sum over all tokens."""
        return math.fsum(self.log_probabilities)

    @property
    def perplexity(self) -> float:
        """The perplexity of a token."""
        return perplexity([self])

    @property
    def word_perplexity(self) -> float:
        """The perplexity of a word, which does not depend on how words are cut into tokens."""
        return word_perplexity([self])

    @property
    def bits_per_byte(self) -> float:
        """How many bits it takes to say a byte of the text."""
        return bits_per_byte([self])
