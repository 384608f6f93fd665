"""Text in, a label out; or a context and choices in, and the likeliest of them out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

from regard.data.encoding.labeled import encode_choices
from regard.data.sources.multiple_choice import MultipleChoiceRow
from regard.errors import DataError
from regard.pipelines.head_scores import softmax
from regard.progress import SILENT, Progress
from regard.tasks.finetune.pipeline import HeadPipeline, Lines, as_texts, check_count, check_texts, encode_pairs

Texts = str | tuple[str, str]
"""One text, or the two of a pair."""


@dataclass(frozen=True)
class Classification:
    """The likeliest label of a text, or of a pair, and the probability of every label."""

    texts: tuple[str, ...]
    label: str
    probabilities: dict[str, float]
    is_truncated: bool
    """Whether the text was longer than the model reads, and lost its end."""

    @property
    def probability(self) -> float:
        """How sure the model is of its label."""
        return self.probabilities[self.label]


@dataclass(frozen=True)
class ChoiceResult:
    """The likeliest of some choices, by its number from 0, and the probability of each."""

    context: str
    choices: tuple[str, ...]
    number: int
    probabilities: tuple[float, ...]

    @property
    def choice(self) -> str:
        """The choice itself."""
        return self.choices[self.number]

    @property
    def probability(self) -> float:
        """How sure the model is of it."""
        return self.probabilities[self.number]


class Classifier(HeadPipeline):
    """Gives texts, or pairs of texts, one of the labels it has learned."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it knows."""
        return tuple(self.bundle.facts["labels"])

    @property
    def texts(self) -> int:
        """How many texts belong to one label: one, or two."""
        return int(self.bundle.facts["texts"])

    @overload
    def __call__(self, text: Texts, *, lines: Lines = None, progress: Progress = SILENT) -> Classification: ...
    @overload
    def __call__(
        self,
        text: list[str] | list[tuple[str, str]],
        *,
        lines: Lines = None,
        progress: Progress = SILENT,
    ) -> list[Classification]: ...
    def __call__(
        self,
        text: Texts | list[str] | list[tuple[str, str]],
        *,
        lines: Lines = None,
        progress: Progress = SILENT,
    ) -> Classification | list[Classification]:
        """Label one text (or pair, as a tuple), or many of them, in a list, in their order.

        `lines` are their numbers in what they were taken from: messages name them.
        """
        if isinstance(text, str | tuple):
            return self._classify([text], lines or [1], progress)[0]
        return self._classify(text, lines or range(1, len(text) + 1), progress)

    def _classify(self, given: Sequence[Texts], lines: Sequence[int], progress: Progress) -> list[Classification]:
        rows = [as_texts(each, f"line {line:,}") for line, each in zip(lines, given, strict=True)]
        for line, texts in zip(lines, rows, strict=True):
            check_count(texts, self.texts, f"line {line:,}", "labels")
            check_texts(texts, f"line {line:,}")
        stripped = [tuple(text.strip() for text in texts) for texts in rows]  # as they were learned from
        encoded = encode_pairs(self.bundle, stripped, [0] * len(rows))
        found = [softmax(each) for each in self._scores(encoded, progress)]
        return [
            Classification(
                texts, self.labels[int(each.argmax())], dict(zip(self.labels, each.tolist())), is_truncated
            )
            for texts, each, is_truncated in zip(rows, found, encoded.is_truncated.tolist(), strict=True)
        ]


class MultipleChoice(HeadPipeline):
    """Chooses what follows a context."""

    @overload
    def __call__(self, context: str, choices: Sequence[str], *, progress: Progress = SILENT) -> ChoiceResult: ...
    @overload
    def __call__(
        self, context: Sequence[tuple[str, Sequence[str]]], choices: None = None, *, progress: Progress = SILENT
    ) -> list[ChoiceResult]: ...
    def __call__(
        self,
        context: str | Sequence[tuple[str, Sequence[str]]],
        choices: Sequence[str] | None = None,
        *,
        progress: Progress = SILENT,
    ) -> ChoiceResult | list[ChoiceResult]:
        """Choose among the choices for one context, or for each of many (context, choices), in their order."""
        if isinstance(context, str):
            return self._choose([(context, choices or ())], progress)[0]
        return self._choose(context, progress)

    def _choose(self, given: Sequence[tuple[str, Sequence[str]]], progress: Progress) -> list[ChoiceResult]:
        examples = [MultipleChoiceRow(context, tuple(choices), -1) for context, choices in given]
        for line, example in enumerate(examples, start=1):
            if len(example.choices) < 2:
                raise DataError(f"example {line:,}: it has {len(example.choices)} choices; give two or more.")
            check_texts((example.context, *example.choices), f"example {line:,}")
        stripped = [
            MultipleChoiceRow(each.context.strip(), tuple(choice.strip() for choice in each.choices), -1)
            for each in examples
        ]
        is_mean = self.bundle.head is not None and self.bundle.head.pooling != "token"
        encoded = encode_choices(stripped, self.tokenizer, self.frame, self.max_length)
        encoded = replace(encoded, looks_at_all=is_mean)
        found = [softmax(each) for each in self._scores(encoded, progress)]
        return [
            ChoiceResult(example.context, example.choices, int(each.argmax()), tuple(each.tolist()))
            for example, each in zip(examples, found, strict=True)
        ]
