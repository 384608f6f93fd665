"""Declarations of a task: wording, metrics, operations, checks, options."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from regard.config.schema import FieldSpec, fields_of
from regard.config.settings import Settings
from regard.progress import SILENT, Progress

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.models.base.family import Kind
    from regard.pipelines.base import AnyPipeline
    from regard.tasks.findings import Finding
    from regard.training.device.machine import Machine


@dataclass(frozen=True)
class Wording:
    """The nouns that sentences, cards and help are built from."""

    noun: str
    """A model of the task: "a translator"."""
    plural: str
    data_flags: str
    """The flags that name the training data: "--source FILE --target FILE, or --data FILE"."""
    tokens: str = "tokens"
    """The unit of an update: "target tokens"."""
    shorten: str = "shorter examples (max_length)"
    """The remedy where not even one example fits in memory."""
    examples: str = "examples"
    """The rows of a micro-batch: "pairs"."""


@dataclass(frozen=True)
class Metric:
    """A metric of a task's models; the first one ranks runs and races."""

    key: str
    """Its key in an evaluation."""
    label: str
    format: str = ".4f"
    best: Literal["max", "min"] = "max"
    is_validated: bool = False
    """Computed at every validation: valid_<key> in metrics.jsonl."""
    is_raced: bool = False
    """A column in the table of a race."""
    validated_as: str = ""
    """The difference between the value of a validation and that of an evaluation, in words."""

    def cell(self, values: "Mapping[str, Any]") -> str:
        """Return its value among those of a set as text, with its 95% interval where there is one."""
        value = values.get(self.key)
        if not isinstance(value, int | float) or not math.isfinite(value):
            return "-"
        shown, interval = format(value, self.format), values.get("intervals", {}).get(self.key)
        return f"{shown} [{interval[0]:{self.format}}, {interval[1]:{self.format}}]" if interval else shown


@dataclass(frozen=True)
class LossCurve:
    """The loss of a run's curves: its unit, the loss part for training, and the key for validation."""

    unit: str
    part: str = "nll"
    valid: str = "valid_loss"


@dataclass(frozen=True)
class Listing:
    """A method of a pipeline that lists dataclasses for one row: `method(*row, count=N, **options)`."""

    name: str
    """The option that gives the count: "alternatives"."""
    doc: str


@dataclass(frozen=True)
class Operation:
    """A use of a trained model: one verb of the command line, one call in Python, one route of a server."""

    name: str
    """The verb: "translate"."""
    summary: str
    row: type
    """A frozen dataclass or NamedTuple: its fields are arguments, columns, JSON keys, form fields."""
    inputs: tuple[str, ...]
    """The fields of a row that are given."""
    options: type[Settings]
    result: "type[Any]"
    method: str = "__call__"
    """The method of the pipeline; for a verb of its own, the pipeline itself or an attribute that is a pipeline."""
    wraps: "Callable[[Any], AnyPipeline] | None" = None
    """Makes its pipeline of the model's, where that has no attribute for it."""
    formats: tuple[str, ...] = ()
    """Suffixes of files that `read_rows` of the pipeline reads, beside tables and lines."""
    shared: tuple[str, ...] = ()
    """Inputs that one file may give to all rows."""
    more_options: tuple[type[Settings], ...] = ()
    """Options of pipelines of other families of models, which its verb has too."""
    views: "tuple[Listing, ...]" = ()
    """Other things to list of one row, each asked for by an option."""
    takes_blank: bool = False
    """A blank text is a row too, with a result of its own."""
    details: str = ""
    """Further sentences of its help: what is special to its inputs and outputs."""
    takes_encoders: bool = False
    """Any model with a text encoder will do, whatever its task."""
    streams: bool = False
    """`stream` yields parts of a result as they are generated."""
    protocols: tuple[str, ...] = ()
    """Routes of other servers that it answers: "openai:completions"."""
    arguments: str = ""
    """Its arguments in one line (default: the inputs in upper case)."""
    example: str = ""
    """Arguments that work in a shell."""
    call: str = ""
    """The same in Python, on a variable of the name `variable`."""
    variable: str = "model"

    def pipeline(self, model: "AnyPipeline") -> "AnyPipeline":
        """Return the pipeline that answers its rows, given that of the model."""
        if self.wraps is not None:
            return self.wraps(model)
        return model if self.method == "__call__" else getattr(model, self.method)

    @property
    def fields(self) -> dict[str, FieldSpec]:
        """The fields of a row by name."""
        return {each.name: each for each in fields_of(self.row)}

    @property
    def option_names(self) -> list[str]:
        """The names of its options, whatever the family of the model."""
        schemas = (self.options, *self.more_options)
        return list(dict.fromkeys(name for schema in schemas for name in schema.model_fields))

    @property
    def usage(self) -> str:
        """Its arguments in one line: "TEXT"."""
        return self.arguments or " ".join(name.upper() for name in self.inputs)


@dataclass(frozen=True)
class Check:
    """A check of the data before training: in full (doctor), and its quick form (before every run)."""

    name: str
    run: "Callable[[Any], list[Finding]]"
    quick: "Callable[[Any], list[Finding]]"


@dataclass(frozen=True)
class InitFrom:
    """Rules of starting from a pretrained model."""

    rates: "Mapping[Kind, float]"
    """The default peak learning rate for each kind of pretrained model, at a width of 768."""
    has_new_head: bool = False
    """The model gets a new head; otherwise its training continues."""
    may_change: tuple[str, ...] = ()
    """Model settings that may differ from the pretrained model's, beside dropout."""
    takes_word_vectors: bool = False
    """Word vectors may initialize the embedding matrix instead."""


@dataclass(frozen=True)
class Context:
    """The circumstances of preparing a run: machine, progress, and the model it begins with, if any."""

    machine: "Machine"
    progress: Progress = SILENT
    resumed: "Bundle | None" = None
    """The checkpoint that a run is resumed from."""
    pretrained: "Bundle | None" = None
    """The pretrained model of a new run, on the CPU; word vectors are read by the tasks that take them."""

    shares: bool = False
    """True if processes of any hosts tokenize the same text into the same folder at the same time."""

    @property
    def known(self) -> "Bundle | None":
        """The model whose tokenizers the data is tokenized with; None: new ones are trained."""
        return self.resumed or self.pretrained


class EvaluateOptions(Settings):
    """Options of an evaluation; a task adds its own, and nothing else is accepted."""


@dataclass(frozen=True)
class LoadOptions:
    """Options of loading a model that only some tasks honor."""

    quantize: str = "none"
    ensemble: tuple["Bundle", ...] = ()


@dataclass(frozen=True)
class ScoreTable:
    """A table of scores: a title, a header and rows of text."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]] = ()
