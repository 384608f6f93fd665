"""Fine-tuning on single texts or pairs of texts, with a label or a number."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from regard.data.settings.examples import LabelSource
from regard.data.sources.labeled import LabeledRow, read_labeled_with_columns
from regard.errors import ConfigError, DataError
from regard.progress import Progress
from regard.tasks.declarations import Operation
from regard.tasks.finetune.base import Columns, HeadTask, P
from regard.tasks.finetune.records import TextFacts
from regard.tasks.record import RunRecord

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle

F = TypeVar("F", bound=TextFacts)


class TextHeadTask(HeadTask[LabeledRow, F, P]):
    """A task whose examples are single texts or text pairs."""

    source = LabelSource
    is_number: ClassVar[bool] = False

    def read(
        self, source: LabelSource, progress: Progress, columns: Columns
    ) -> tuple[list[LabeledRow], dict[str, Any]]:
        """Return the examples of a source, and the columns of their texts and labels."""
        return read_labeled_with_columns(source, progress, self.is_number, columns)

    def reason_to_drop(self, example: LabeledRow) -> str | None:
        """Return why an example is dropped: a text or the label is empty."""
        return "empty" if not all(example.texts) else "without a label" if example.label == "" else None

    def texts(self, example: LabeledRow) -> tuple[str, ...]:
        """Return the one text, or both."""
        return example.texts

    def target(self, example: LabeledRow) -> str:
        """Return the label."""
        return example.label

    def pair_facts(self, pair_encoding: str, train: Sequence[LabeledRow]) -> dict[str, Any]:
        """Return the number of texts of an example and the encoding of pairs."""
        texts = len(train[0].texts)
        if pair_encoding != "cross-encoder" and texts == 1:
            raise ConfigError(
                f'pair_encoding: "{pair_encoding}" is for two texts per example, and these have one; leave it out.'
            )
        return {"texts": texts, "pair_encoding": pair_encoding}

    def adapt(
        self, name: str, examples: Sequence[LabeledRow], bundle: "Bundle", progress: Progress
    ) -> list[LabeledRow]:
        """Return the same examples; the config of another library does not fix the number of texts."""
        count = len(examples[0].texts)
        if count != self.read_facts(bundle).texts:
            progress.warn(f"{name}: it has {count} texts per example; the model is given all of them.")
            bundle.facts.update(texts=count)
        return list(examples)

    def check_rows(self, name: str, examples: Sequence[LabeledRow], facts: F) -> None:
        """Refuse another number of texts than the training set has."""
        for each in examples:
            if len(each.texts) != facts.texts:
                raise DataError(
                    f"{name}: it has {len(each.texts)} texts per example, but the training set has {facts.texts}; "
                    f"name the columns of both."
                )

    def usage_of(self, record: RunRecord) -> tuple[Operation, ...]:
        """Return the operations of a run's model: two texts where it was trained on pairs."""
        if record.report.texts == 1:
            return self.operations
        return tuple(_of_pairs(each) for each in self.operations)


def _of_pairs(operation: Operation) -> Operation:
    return replace(
        operation,
        arguments="TEXT TEXT",
        example=f'{operation.example} "and another"',
        call=operation.call.replace('"your text"', '"your text", "and another"'),
    )
