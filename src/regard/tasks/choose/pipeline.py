"""Multiple-choice pipeline: the most probable of several choices for a context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from regard.config.schema import Doc
from regard.data.settings.examples import ChoiceSource
from regard.data.sources.multiple_choice import MultipleChoiceRow, choices_in
from regard.data.sources.tables import read_rows
from regard.errors import DataError
from regard.pipelines.base import Options, Plain, Result
from regard.pipelines.head_scores import softmax
from regard.pipelines.inputs import check_text
from regard.pipelines.text_tables import TextTable
from regard.progress import SILENT, Progress
from regard.tasks.finetune.pipeline import HeadPipeline, template_of
from regard.tasks.finetune.records import HeadFacts

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.data.encoding.labeled import EncodedExamples


@dataclass(frozen=True)
class ChoiceRow:
    """A context and its choices."""

    context: Annotated[str, Doc("The context.")]
    choices: Annotated[Sequence[str], Doc("Two or more continuations.")]


class ChoiceOptions(Options):
    """Options of multiple choice: none."""


@dataclass(frozen=True)
class ChoiceResult(Result):
    """The most probable of several choices, by its index, and the probability of each."""

    row: ChoiceRow
    number: Annotated[int, Doc("The index of the most probable choice, from 0.")]
    probabilities: Annotated[tuple[float, ...], Doc("The probability of every choice.")]

    columns = ("number", "choice", "probabilities")

    @property
    def choice(self) -> str:
        """The text of the choice."""
        return self.row.choices[self.number]

    @property
    def text(self) -> str:
        """The text of the choice."""
        return self.choice

    @property
    def probability(self) -> float:
        """The probability of the choice."""
        return self.probabilities[self.number]

    def lines(self) -> list[str]:
        """Return the index of the choice, its probability and its text."""
        return [f"{self.number}\t{self.probability:.4f}\t{' '.join(self.choice.split())}"]

    def to_dict(self) -> Plain:
        """Return the row, and the choice with its probability, and that of every choice."""
        return super().to_dict() | {"choice": self.choice, "probability": self.probability}


def encode_choice_rows(
    bundle: "Bundle", rows: Sequence[MultipleChoiceRow], progress: Progress = SILENT
) -> "EncodedExamples":
    """Return contexts with their choices as ids of a model."""
    from regard.data.encoding.labeled import encode_choices

    limit = HeadFacts.read(bundle).max_length
    encoded = encode_choices(rows, bundle.tokenizers["tokenizer"], template_of(bundle), limit, progress)
    return replace(encoded, uses_pooling=bundle.head is not None and bundle.head.pooling != "token")


class MultipleChoice(HeadPipeline[ChoiceRow, ChoiceOptions, ChoiceResult]):
    """Chooses among continuations of a context."""

    row = ChoiceRow
    inputs = ("context", "choices")
    options_class = ChoiceOptions

    def check(self, row: ChoiceRow, options: ChoiceOptions, where: str) -> None:
        """Refuse fewer than two choices, and what is not text."""
        if not isinstance(row.choices, list | tuple):
            raise DataError(f"{where}: choices is {row.choices!r}; give a list of two or more.")
        if len(row.choices) < 2:
            raise DataError(f"{where}: it has {len(row.choices)} choices; give two or more.")
        for text in (row.context, *row.choices):
            check_text(text, where)

    def predict(
        self, rows: Sequence[ChoiceRow], options: ChoiceOptions, progress: Progress = SILENT
    ) -> list[ChoiceResult]:
        """Return the most probable choice of each row."""
        scores = self._scores(self.encode(rows), progress)
        return [
            ChoiceResult(row, int(each.argmax()), tuple(softmax(each).tolist()))
            for row, each in zip(rows, scores, strict=True)
        ]

    def encode(self, rows: Sequence[ChoiceRow], progress: Progress = SILENT) -> "EncodedExamples":
        """Return contexts with their choices as ids."""
        stripped = [
            MultipleChoiceRow(each.context.strip(), tuple(choice.strip() for choice in each.choices), -1)
            for each in rows
        ]
        return encode_choice_rows(self.bundle, stripped, progress)

    def read_table(
        self, path: str, columns: Mapping[str, str | int], progress: Progress
    ) -> tuple[TextTable, list[ChoiceRow | None]]:
        """Return a table, and context and choices of each of its rows; None for a blank row."""
        table = read_rows(path, None, "train", lambda row: True)
        source = ChoiceSource(path=path, **{f"{name}_column": column for name, column in columns.items()})
        rows = choices_in(table, source, self.columns, progress)
        return TextTable.of(table), [None if each is None else ChoiceRow(each.context, each.choices) for each in rows]
