"""Multiple-choice pipeline: the most probable of several choices for a context."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

from regard.checkpoint.bundle import Bundle
from regard.data.encoding.labeled import EncodedExamples, encode_choices
from regard.data.sources.multiple_choice import MultipleChoiceRow
from regard.errors import DataError
from regard.pipelines.head_scores import softmax
from regard.progress import SILENT, Progress
from regard.tasks.finetune.pipeline import HeadPipeline, check_texts, template_of
from regard.tasks.finetune.records import HeadFacts


@dataclass(frozen=True)
class ChoiceResult:
    """The most probable of several choices, by its index, and the probability of each."""

    context: str
    choices: tuple[str, ...]
    number: int
    probabilities: tuple[float, ...]

    @property
    def choice(self) -> str:
        """The text of the choice."""
        return self.choices[self.number]

    @property
    def probability(self) -> float:
        """The probability of the choice."""
        return self.probabilities[self.number]


def encode_choice_rows(
    bundle: Bundle, rows: Sequence[MultipleChoiceRow], progress: Progress = SILENT
) -> EncodedExamples:
    """Return contexts with their choices as ids of a model."""
    limit = HeadFacts.read(bundle).max_length
    encoded = encode_choices(rows, bundle.tokenizers["tokenizer"], template_of(bundle), limit, progress)
    return replace(encoded, uses_pooling=bundle.head is not None and bundle.head.pooling != "token")


class MultipleChoice(HeadPipeline):
    """Chooses among continuations of a context."""

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
        """Choose for one context, or for each of a list of (context, choices), in order."""
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
        encoded = encode_choice_rows(self.bundle, stripped)
        probabilities = [softmax(each) for each in self._scores(encoded, progress)]
        return [
            ChoiceResult(example.context, example.choices, int(each.argmax()), tuple(each.tolist()))
            for example, each in zip(examples, probabilities, strict=True)
        ]
