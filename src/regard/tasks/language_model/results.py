"""Results of a language model as frozen values: completions, next tokens, scores of texts."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from regard.decoding.settings import FinishReason
from regard.metrics.perplexity import bits_per_byte, perplexity, word_perplexity
from regard.pipelines.base import Plain, Result
from regard.pipelines.inputs import SingleText
from regard.tasks.language_model.options import PromptRow


@dataclass(frozen=True)
class Completion(Result):
    """The continuation of a prompt with the log probability of each token."""

    row: PromptRow
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

    columns = ("completion", "finish_reason", "log_probability")
    is_block = True

    @property
    def prompt(self) -> str:
        """The prompt that was given."""
        return self.row.prompt

    @property
    def completion(self) -> str:
        """The new text."""
        return self.text

    @property
    def log_probability(self) -> float:
        """The sum over all tokens."""
        return math.fsum(self.log_probabilities)

    def lines(self) -> list[str]:
        """Return the new text, or those of all samples, each under its number."""
        return self.numbered(None)

    def numbered(self, number: int | None) -> list[str]:
        """Return the new text; with several samples, each under the number of the row and its own."""
        if not self.samples:
            return [self.text]
        row, count = "" if number is None else f"prompt {number}, ", len(self.samples)
        parts = ([f"--- {row}output {rank} of {count} ---", each.text] for rank, each in enumerate(self.samples, 1))
        return [line for part in parts for line in part]

    def row_lines(self, number: int) -> list[str]:
        """Return the new text on one line; with several samples, each after the number of the row and its own."""
        texts = [" ".join(each.text.splitlines()) for each in self.samples or (self,)]
        return [f"{number}\t{rank}\t{text}" if self.samples else text for rank, text in enumerate(texts, 1)]

    def to_dict(self) -> Plain:
        """Return the prompt, the new text, its tokens, and all samples."""
        return super().to_dict() | {"log_probability": self.log_probability}

    def record(self) -> Plain:
        """Return the values of its columns, and the texts of several samples."""
        return super().record() | ({"outputs": [each.text for each in self.samples]} if self.samples else {})

    def cells(self) -> dict[str, str]:
        """Return the values of its columns as text, those of several samples as JSON."""
        several = {"outputs": json.dumps(self.record()["outputs"], ensure_ascii=False)} if self.samples else {}
        return super().cells() | several


@dataclass(frozen=True)
class NextToken:
    """A candidate for the next token with its probability."""

    token: str
    id: int
    probability: float


@dataclass(frozen=True)
class TextScore(Result):
    """The log probability of each token of a text, given those before it."""

    row: SingleText
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    alternatives: tuple[tuple[NextToken, ...], ...] = ()
    """The most probable tokens at each position, best first, where they were asked for."""

    columns = ("log_probability", "perplexity", "word_perplexity", "bits_per_byte")

    @staticmethod
    def totals(scores: "Sequence[TextScore]") -> dict[str, float]:
        """Return the metrics of all tokens."""
        return {
            "perplexity": perplexity(scores),
            "word_perplexity": word_perplexity(scores),
            "bits_per_byte": bits_per_byte(scores),
            "log_probability": math.fsum(each.log_probability for each in scores),
            "tokens": sum(len(each.tokens) for each in scores),
        }

    @property
    def text(self) -> str:
        """The text that was given."""
        return self.row.text

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

    def to_dict(self) -> Plain:
        """Return the text, its metrics, and the log probability of each token."""
        return super().to_dict() | self.record()
