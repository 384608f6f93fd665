"""Multiple choice: a context and choices in, the most probable of them out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

from regard.data.encoding.labeled import encode_choices
from regard.data.sources.multiple_choice import MultipleChoiceRow
from regard.errors import DataError
from regard.pipelines.head_scores import softmax
from regard.progress import SILENT, Progress
from regard.tasks.finetune.pipeline import HeadPipeline, check_texts


@dataclass(frozen=True)
class ChoiceResult:
    """The most probable of some choices, by its number from 0, and the probability of each."""

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
        """The probability of the choice."""
        return self.probabilities[self.number]


class MultipleChoice(HeadPipeline):
    """Chooses the continuation of a context."""

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
        probabilities = [softmax(each) for each in self._scores(encoded, progress)]
        return [
            ChoiceResult(example.context, example.choices, int(each.argmax()), tuple(each.tolist()))
            for example, each in zip(examples, probabilities, strict=True)
        ]
