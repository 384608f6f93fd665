"""The base of every pipeline: rows in, results out, with options; one rule for inputs, one table, one JSON."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar, overload

from regard import registry
from regard.config.resolve import Layer, resolve
from regard.config.settings import Settings
from regard.errors import ConfigError
from regard.pipelines.inputs import as_row, lines, split_rows
from regard.pipelines.plain_values import fields_in, plain
from regard.pipelines.result_tables import ResultTable, warn_of_truncated
from regard.pipelines.text_tables import TextTable, read_text_table
from regard.progress import SILENT, Progress

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.nn.probes.trace import Trace

Plain = dict[str, Any]
"""Values of JSON by name."""
Row = TypeVar("Row")
CHUNK = 512
"""Rows that `map` reads ahead: enough to batch them by length."""
PRECISIONS = {"torch.float32": "fp32", "torch.bfloat16": "bf16"}


class Options(Settings):
    """Options of a call; a pipeline adds its own."""

    only_here: ClassVar[tuple[str, ...]] = ()
    """Options that name files of this machine, or are for a command line: no server takes them."""
    is_checked_alone: ClassVar[bool] = True
    """False: what fits together depends on the checkpoint's own options, which are its defaults."""


class Result:
    """The answer to one row: the base of frozen dataclasses whose first field is `row`."""

    columns: ClassVar[tuple[str, ...]] = ()
    """The values that a table gets as further columns."""
    files: ClassVar[tuple[str, ...]] = ()
    """Suffixes of the files that `write` writes, beside those of tables."""
    is_numbered: ClassVar[bool] = False
    """Its lines begin with the number of the row, where there are several rows."""
    is_block: ClassVar[bool] = False
    """Its text may have several lines, so a blank line stands before the next one."""
    if TYPE_CHECKING:

        @property
        def row(self) -> object:
            """The row that was given."""

        @property
        def text(self) -> str:
            """The answer as one line of text."""

        @property
        def is_truncated(self) -> bool:
            """True where the end of the row was left out."""

    else:
        is_truncated = False

    def lines(self) -> list[str]:
        """Return the answer as lines of standard output."""
        return [" ".join(self.text.splitlines())]

    def numbered(self, number: int | None) -> list[str]:
        """Return its lines as those of the row of that number; None: of the only one."""
        return [f"{number}\t{line}" if self.is_numbered and number else line for line in self.lines()]

    def row_lines(self, number: int) -> list[str]:
        """Return its lines in a file where each row has one."""
        return self.numbered(number)

    @classmethod
    def write(cls, path: Path, results: "Sequence[Any]") -> None:
        """Write results to a file with one of the suffixes in `files`."""
        raise NotImplementedError

    def to_dict(self) -> Plain:
        """Return the row and the answer as plain JSON values: what --json prints."""
        return fields_in(self.row) | {name: value for name, value in fields_in(self).items() if name != "row"}

    def record(self) -> Plain:
        """Return the values of its columns, as a row of a JSON table holds them."""
        return {name: plain(getattr(self, name)) for name in self.columns}

    def cells(self) -> dict[str, str]:
        """Return the values of its columns as text; probabilities are a column each."""
        cells: dict[str, str] = {}
        for name, value in ((name, getattr(self, name)) for name in self.columns):
            if name == "probabilities":
                pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
                cells |= {f"probability_{key}": f"{each:.6f}" for key, each in pairs}
            elif isinstance(value, tuple):
                cells[name] = "|".join(map(str, value))
            else:
                cells[name] = f"{value:.6f}" if isinstance(value, float) else str(value)
        return cells

    def __str__(self) -> str:
        return self.text


R = TypeVar("R")
O = TypeVar("O", bound=Options)  # noqa: E741
A = TypeVar("A", bound=Result)


class Pipeline(ABC, Generic[R, O, A]):
    """A trained model in use: rows R, options O, results A."""

    row: type[R]
    inputs: tuple[str, ...]
    """The fields of a row that are given."""
    options_class: type[O]
    origin: str = ""
    """The path it was loaded from."""

    def __init__(self, bundle: "Bundle") -> None:
        self.bundle = bundle
        self.task = bundle.task
        self.model: Any = bundle.model
        self.device = next(bundle.model.parameters()).device

    @property
    def config(self) -> Plain:
        """The settings of the model and the facts of its task."""
        return {"model": self.bundle.settings.model_dump(), **self.bundle.facts}

    @property
    def columns(self) -> Plain:
        """The columns of the training table, by their setting; empty where there was no table."""
        return dict(self.bundle.facts.get("columns", {}))

    @property
    def defaults(self) -> Mapping[str, object]:
        """The checkpoint's own options."""
        return {}

    def options(self, given: O | None = None, /, **overrides: object) -> O:
        """Return the options of a call: the checkpoint's, then those given, then those by name (None: not given)."""
        changed = {name: value for name, value in overrides.items() if value is not None}
        chosen = {} if given is None else given.model_dump(mode="json", exclude_unset=True)
        layers = (Layer("the checkpoint", self.defaults), Layer("the options", chosen), Layer("the call", changed))
        return resolve(self.options_class, layers).settings

    def check(self, row: R, options: O, where: str) -> None:
        """Refuse a row that the model cannot take; `where` names it."""

    @abstractmethod
    def predict(self, rows: Sequence[R], options: O, progress: Progress = SILENT) -> list[A]:
        """Return the results of checked rows, in order."""

    @overload
    def __call__(
        self,
        *inputs: list[Row] | Iterator[Row],
        options: O | None = None,
        where: Sequence[str] | None = None,
        first_row: int = 1,
        progress: Progress = SILENT,
        **overrides: object,
    ) -> list[A]: ...
    @overload
    def __call__(
        self,
        *inputs: Any,
        options: O | None = None,
        where: Sequence[str] | None = None,
        first_row: int = 1,
        progress: Progress = SILENT,
        **overrides: object,
    ) -> A: ...
    def __call__(
        self,
        *inputs: object,
        options: O | None = None,
        where: Sequence[str] | None = None,
        first_row: int = 1,
        progress: Progress = SILENT,
        **overrides: object,
    ) -> A | list[A]:
        """Return the result of one row, its fields as arguments (or a tuple, or a dict), or those of a list of rows.

        Messages name a row by its `where`, or by its line, counted from `first_row`.
        """
        rows, is_many = split_rows(inputs)
        numbers, origins = range(first_row, first_row + len(rows)), where or lines(first_row, rows)
        results = self._results(rows, self.options(options, **overrides), origins, progress, numbers)
        return results if is_many else results[0]

    def _results(
        self,
        given: Sequence[object],
        options: O,
        where: Sequence[str],
        progress: Progress,
        numbers: Sequence[int],
    ) -> list[A]:
        """Return the results of rows, each checked; random numbers may depend on their `numbers`."""
        rows = [as_row(self.row, self.inputs, each, origin) for each, origin in zip(given, where, strict=True)]
        for row, origin in zip(rows, where, strict=True):
            self.check(row, options, origin)
        return self.predict(rows, options, progress)

    def map(
        self, rows: Iterable[object], *, chunk: int = CHUNK, options: O | None = None, **overrides: object
    ) -> Iterator[A]:
        """Yield the results of any number of rows, which are read `chunk` by `chunk`."""
        remaining, first, chosen = iter(rows), 1, self.options(options, **overrides)
        while part := list(islice(remaining, chunk)):
            numbers = range(first, first + len(part))
            yield from self._results(part, chosen, lines(first, part), SILENT, numbers)
            first += len(part)

    def stream(
        self, *inputs: object, options: O | None = None, first_row: int = 1, **overrides: object
    ) -> Iterator[object]:
        """Yield the parts of one result as they are generated."""
        self._refuse("stream", "generates no text token by token; call it")

    @property
    def score(self) -> "AnyPipeline":
        """The pipeline that returns the log probability of each token of given texts."""
        self._refuse("score", "predicts no text; use a language model or a translator")

    def inspect(self, *inputs: object, probes: Sequence[str] = ("*.weights",)) -> "Trace":
        """Return a trace of the model's forward pass over one row."""
        self._refuse("inspect", "has no attention weights; use a model that attends")

    def _refuse(self, what: str, why: str) -> NoReturn:
        wording = registry.task(self.task).wording
        raise ConfigError(f"{what}: {self.origin or 'this model'} is {wording.noun}, which {why}.")

    def table(
        self,
        path: str | Path,
        *,
        columns: Mapping[str, str | int] | None = None,
        options: O | None = None,
        progress: Progress = SILENT,
        **overrides: object,
    ) -> ResultTable:
        """Return the rows of a table with their results; `columns` name those of a row's fields."""
        columns = columns or {}
        if unknown := [name for name in columns if name not in self.inputs]:
            raise ConfigError(f"columns: {unknown[0]} is not one of {', '.join(self.inputs)}; choose one.")
        table, rows = self.read_table(str(path), columns, progress)
        results = self.answers(rows, self.options(options, **overrides), table.where, progress)
        warn_of_truncated(results, progress)
        return ResultTable(table, results)

    def answers(
        self,
        rows: Sequence[object | None],
        options: O,
        where: Sequence[str],
        progress: Progress = SILENT,
        first_row: int = 1,
    ) -> list[A | None]:
        """Return the result of each row; None for None, a row without text."""
        kept = [index for index, row in enumerate(rows) if row is not None]
        numbers = [first_row + index for index in kept]
        given, origins = [rows[index] for index in kept], [where[index] for index in kept]
        results = iter(self._results(given, options, origins, progress, numbers))
        return [None if row is None else next(results) for row in rows]

    def read_rows(self, path: str, columns: Mapping[str, str | int], progress: Progress) -> list[R]:
        """Return the rows of a file in a format of the task: one of `Operation.formats`."""
        raise NotImplementedError

    def read_table(
        self, path: str, columns: Mapping[str, str | int], progress: Progress
    ) -> tuple[TextTable, list[R | None]]:
        """Return a table and the row of each of its rows; None where a text is empty."""
        chosen = [columns[name] for name in self.inputs if name in columns]
        table = read_text_table(path, chosen, self.texts, self.columns, progress)
        rows = [as_row(self.row, self.inputs, texts, "") if all(texts) else None for texts in table.texts]
        return table, rows

    @property
    def texts(self) -> int:
        """The number of texts of a row."""
        return len(self.inputs)

    def __repr__(self) -> str:
        settings, parameters = self.bundle.settings, sum(each.numel() for each in self.model.parameters())
        precision = PRECISIONS.get(str(next(self.model.parameters()).dtype), "")
        parts = (settings.preset or settings.family, f"{parameters:,} parameters", f"{self.device.type} {precision}")
        return f"{type(self).__name__}({', '.join((*parts, *filter(None, (self.origin,))))})"


AnyPipeline = Pipeline[Any, Any, Any]
