"""Tasks of rows: a head over texts, with targets, losses, results and metrics in a few methods of one class."""

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import ClassVar, Generic, Literal, TypeVar

import numpy as np
import torch
from pydantic import TypeAdapter, ValidationError, create_model

from regard.checkpoint.bundle import Bundle
from regard.checkpoint.facts import TaskFiles
from regard.config.parsing import parse_json
from regard.config.schema import FieldSpec, fields_of
from regard.data.encoding.labeled import EncodedExamples, encode_texts
from regard.data.settings.examples import ExampleData, ExampleSource
from regard.data.sources.tables import Table, read_rows
from regard.errors import CheckpointError, DataError
from regard.metrics.bootstrap import Statistic
from regard.models.base.family import Kind
from regard.models.base.settings import ModelSettings
from regard.pipelines.base import Options, Plain, Result
from regard.pipelines.head_scores import Scores
from regard.pipelines.inputs import check_text
from regard.progress import SILENT, Progress
from regard.tasks.declarations import InitFrom, LoadOptions, Operation
from regard.tasks.finetune.base import Columns, HeadTask, Settings
from regard.tasks.finetune.pipeline import HeadPipeline, template_of
from regard.tasks.finetune.predictions import ErrorExample, Predictions, ScoreName
from regard.tasks.finetune.records import HeadFacts
from regard.tasks.finetune.schema import settings_of
from regard.tasks.finetune.settings import FineTuneSettings
from regard.tasks.settings import FINE_TUNING_RATES, M

R = TypeVar("R")
F = TypeVar("F", bound=HeadFacts)
O = TypeVar("O", bound=Options)  # noqa: E741
A = TypeVar("A", bound=Result)

KINDS: tuple[Kind, ...] = ("encoder", "causal-lm", "bidirectional-lm", "embeddings")
SEPARATOR = "|"
"""Between the values of a list in a cell of a table."""


class RowSettings(FineTuneSettings[M], Generic[M]):
    """The settings of a run of a task of rows."""

    data: ExampleData[ExampleSource]


class RowPipeline(HeadPipeline[R, O, A], Generic[R, F, O, A]):
    """A trained model of a task of rows."""

    def __init__(self, task: "RowTask[R, F, O, A]", bundle: Bundle) -> None:
        super().__init__(bundle)
        operation = task.operations[0]
        self.row, self.inputs, self.options_class = operation.row, operation.inputs, operation.options  # type: ignore[assignment]
        self._task = task
        self._facts = task.read_facts(bundle)

    def check(self, row: R, options: O, where: str) -> None:
        """Refuse what is not text."""
        for text in self._task.texts(row):
            check_text(text, where)

    def encode(self, rows: Sequence[R], progress: Progress = SILENT) -> EncodedExamples:
        """Return rows as ids."""
        return self._task.encoded(rows, [0] * len(rows), self.bundle, progress)

    def predict(self, rows: Sequence[R], options: O, progress: Progress = SILENT) -> list[A]:
        """Return the result of each row."""
        outputs = self._scores(self.encode(rows, progress), progress)
        return [
            self._task.result(row, scores, self._facts, options) for row, scores in zip(rows, outputs, strict=True)
        ]


class RowTask(HeadTask[R, F, RowPipeline[R, F, O, A]], Generic[R, F, O, A]):
    """Rows (R) of texts with targets, the facts of a model (F), the options (O) and the results (A) of a call.

    The first operation names the class of rows and its fields that are texts; metrics are fractions of 1.
    """

    head: ClassVar[Literal["classification"]] = "classification"
    source = ExampleSource
    init_from = InitFrom({kind: FINE_TUNING_RATES[kind] for kind in KINDS}, has_new_head=True)
    no_examples = "no row has a text."

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if "metrics" in vars(cls):
            roles = (frozenset({"tokenizer"}), frozenset({"tokenizer", "words"}))
            cls.files = TaskFiles(cls.facts, KINDS, (cls.head,), roles)
            cls.operations = tuple(map(_with_example, cls.operations))
            cls.score_names = tuple(ScoreName(each.key, f"{each.label} %") for each in cls.metrics)

    @abstractmethod
    def targets(self, row: R, facts: F) -> list[float]:
        """Return the numbers that the outputs of the head are trained towards."""

    @abstractmethod
    def losses(self, scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the loss of each row (B,), of outputs (B, C) and targets (B, C)."""

    @abstractmethod
    def result(self, row: R, scores: Scores, facts: F, options: O) -> A:
        """Return the result of a row from the outputs of the head (C,)."""

    @abstractmethod
    def measure(self, rows: Sequence[R], results: Sequence[A]) -> dict[str, float]:
        """Return the value of every metric."""

    def texts(self, example: R) -> tuple[str, ...]:
        """Return the fields that are given in a call."""
        return tuple(str(getattr(example, name)) for name in self.operations[0].inputs)

    def target(self, example: R) -> str:
        """Return the fields that are predicted, as a line of text."""
        names = [
            each.name for each in fields_of(self.operations[0].row) if each.name not in self.operations[0].inputs
        ]
        return "\t".join(_as_text(getattr(example, name)) for name in names)

    def label_counts(self, examples: Sequence[R]) -> Counter[str]:
        """Return no counts: targets are not labels."""
        return Counter()

    def read(self, source: ExampleSource, progress: Progress, columns: Columns) -> tuple[list[R], Plain]:
        """Return the rows of a table whose columns have the names of the fields."""
        fields = fields_of(self.operations[0].row)
        known = {each.name for each in fields}
        table = read_rows(
            source.path, source.config, source.split, lambda row: not known.isdisjoint(map(str.lower, row))
        )
        given = {each: _column(table, each) for each in fields}
        rows = table.rows[: source.max_rows]
        return [
            self.operations[0].row(
                **{
                    field.name: _value(field, row.get(name), f"{table.origin}: {where}")
                    for field, name in given.items()
                    if name
                }
            )
            for where, row in rows
        ], {}

    def reason_to_drop(self, example: R) -> str | None:
        """Return why a row is dropped: a text is empty."""
        return None if all(text.strip() for text in self.texts(example)) else "empty"

    def encoded(
        self,
        rows: Sequence[R],
        targets: Sequence[int] | Sequence[list[float]],
        bundle: Bundle,
        progress: Progress = SILENT,
    ) -> EncodedExamples:
        """Return rows as ids, with their targets."""
        texts = [tuple(text.strip() for text in self.texts(row)) for row in rows]
        tokenizer, facts = bundle.tokenizers["tokenizer"], self.read_facts(bundle)
        pools = bundle.head is not None and bundle.head.pooling != "token"
        encoded = encode_texts(texts, targets, tokenizer, template_of(bundle), facts.max_length, progress=progress)
        return replace(encoded, uses_pooling=pools)

    def encode(self, examples: Sequence[R], bundle: Bundle, progress: Progress = SILENT) -> EncodedExamples:
        """Return rows as ids, with their targets."""
        facts = self.read_facts(bundle)
        return self.encoded(examples, [self.targets(each, facts) for each in examples], bundle, progress)

    def predictions(
        self, examples: Sequence[R], encoded: EncodedExamples, outputs: list[Scores], facts: F
    ) -> Predictions:
        """Return the results with the default options."""
        options = self.operations[0].options()
        results = [self.result(each, scores, facts, options) for each, scores in zip(examples, outputs, strict=True)]  # type: ignore[arg-type]
        scores = torch.from_numpy(np.stack(outputs).astype(np.float64))
        losses = self.losses(scores, torch.from_numpy(encoded.labels)).tolist()
        return Predictions([self._line(each) for each in results], losses, sum(losses) / len(losses), results)

    def compute_metrics(self, examples: Sequence[R], predictions: Predictions, facts: F) -> dict[str, float]:
        """Return the value of every metric."""
        return self.measure(examples, predictions.details)

    def statistics_of(self, examples: Sequence[R], lines: Sequence[str], facts: F) -> dict[str, Statistic]:
        """Return the metrics as functions of how often each row counts."""
        schema: TypeAdapter[A] = TypeAdapter(self.operations[0].result)
        results = [
            schema.validate_python(parse_json(line)["result"] | {"row": row})
            for line, row in zip(lines, examples, strict=True)
        ]

        @cache
        def measured(counts: bytes) -> dict[str, float]:
            chosen = np.repeat(np.arange(len(results)), np.frombuffer(counts).astype(np.int64)).tolist()
            return self.measure([examples[row] for row in chosen], [results[row] for row in chosen])

        def statistic(key: str) -> Statistic:
            return lambda counts: measured(np.ascontiguousarray(counts, np.float64).tobytes())[key]

        return {each.key: statistic(each.key) for each in self.metrics}

    def _line(self, result: A) -> str:
        fields = {name: value for name, value in asdict(result).items() if name != "row"}  # type: ignore[call-overload]
        return json.dumps({"text": result.text, "result": fields}, ensure_ascii=False)

    def is_correct(self, example: R, line: str) -> bool:
        """Return whether a result has the text of the target."""
        return bool(parse_json(line)["text"] == self.target(example))

    def error(self, example: R, line: str, confidence: float) -> ErrorExample:
        """Return a wrong result for cards and reports."""
        return ErrorExample(list(self.texts(example)), self.target(example), parse_json(line)["text"], None)

    def settings(self, model: type[ModelSettings]) -> type[Settings]:
        """Return the schema of a run."""
        return _settings_of(self.name, model)

    def pipeline(self, bundle: Bundle, options: LoadOptions) -> RowPipeline[R, F, O, A]:
        """Return the pipeline of a model."""
        outputs = self.outputs(self.read_facts(bundle))
        if bundle.head is None or bundle.head.outputs != outputs:
            raise CheckpointError(f"the facts of this model are for {outputs} outputs of its head; copy it again.")
        return RowPipeline(self, bundle)


def _with_example(operation: Operation) -> Operation:
    """Return an operation with a call that cards show."""
    texts = ['"your text"'] * len(operation.inputs)
    call = operation.call or f"model({', '.join(texts)}).text"
    return replace(operation, example=operation.example or " ".join(texts), call=call)


@cache
def _settings_of(task: str, model: type[ModelSettings]) -> type[Settings]:
    schema = settings_of(RowSettings, model)
    return create_model(schema.__name__, __base__=schema, task=(Literal[task], task))  # type: ignore[arg-type]


def _column(table: Table, field: FieldSpec) -> str | None:
    """Return the column of a field; None: it has a default, and the table has no such column."""
    has = field.name.lower() in {name.strip().lower() for name in table.names}
    return table.column(field.name) if has or field.is_required else None


def _value(field: FieldSpec, cell: object, where: str) -> object:
    """Return the value of a field in a cell of a table; values of a list stand between separators."""
    schema: TypeAdapter[object] = TypeAdapter(field.type)
    try:
        try:
            return schema.validate_python("" if cell is None else cell)
        except ValidationError:
            if not isinstance(cell, str | None):
                raise
            return schema.validate_python([part.strip() for part in (cell or "").split(SEPARATOR) if part.strip()])
    except ValidationError:
        raise DataError(f"{where}: {field.name} is {cell!r}, which is no {field.type_words}; correct it.") from None


def _as_text(value: object) -> str:
    return SEPARATOR.join(map(str, value)) if isinstance(value, list | tuple) else str(value)
