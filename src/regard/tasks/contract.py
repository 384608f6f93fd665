"""The task contract: everything that training, evaluation, reports and pipelines need of a task."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from regard import registry
from regard.config.settings import Settings
from regard.errors import ConfigError
from regard.metrics.comparison import Part
from regard.progress import SILENT, Progress
from regard.tasks.declarations import (
    Check,
    Context,
    EvaluateOptions,
    InitFrom,
    LoadOptions,
    LossCurve,
    Metric,
    Operation,
    ScoreTable,
    Wording,
)
from regard.tasks.evaluation import Evaluation, Values, score_table
from regard.tasks.findings import shown
from regard.tasks.planning.inputs import DROPOUT, RATE, UPDATE, Default, Doubt, PlanInput

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.checkpoint.facts import TaskFiles
    from regard.data.sources.memory import Shape
    from regard.metrics.bootstrap import Statistic
    from regard.models.base.settings import ModelSettings
    from regard.tasks.card import CardInput
    from regard.tasks.data import EvalSet, Prepared, SampleLoss
    from regard.tasks.record import DataReport, RunRecord, ScoresRecord
    from regard.tasks.settings import RunSettings

S = TypeVar("S", bound="RunSettings[Any]")
D = TypeVar("D")
P = TypeVar("P")


class Task(ABC, Generic[S, D, P]):
    """A kind of run: S are its settings, D its data, P its pipeline."""

    name: ClassVar[str]
    wording: ClassVar[Wording]
    files: "ClassVar[TaskFiles]"
    """The parts of its checkpoints: facts, kinds of models (the default first), heads, tokenizers."""
    source: ClassVar[type[Settings]]
    """Settings of one data set."""
    rows: "ClassVar[tuple[Shape, ...]]"
    """Fields of a row from memory, in order, with their types; further shapes have more fields."""
    report: "ClassVar[type[DataReport]]"
    """Schema of the data in run.json."""
    scores: "ClassVar[type[ScoresRecord]]"
    """Schema of an evaluation in run.json and in passports."""
    metrics: ClassVar[tuple[Metric, ...]]
    counted: ClassVar[tuple[str, str]]
    """Key and label of the number of examples scored: ("sentences", "sentences")."""
    loss_curve: ClassVar[LossCurve]
    operations: ClassVar[tuple[Operation, ...]]
    """The first one is the call of the pipeline."""
    evaluation: ClassVar[type[EvaluateOptions]] = EvaluateOptions
    evaluated_on: ClassVar[type[Settings] | None] = None
    """Settings of a set to evaluate on, where they are not those of `source`."""
    evaluation_flags: ClassVar[str] = ""
    """The flags that name such a set; empty: those of the training data."""
    score_note: ClassVar[str] = ""
    """A note under its scores: units, and between which models they can be compared."""
    init_from: ClassVar[InitFrom | None] = None
    """Pretrained models it may start from, and their learning rates; None: none."""
    loads: ClassVar[frozenset[str]] = frozenset()
    """Fields of `LoadOptions` that its pipeline honors."""
    doubts: ClassVar[tuple[Doubt, ...]] = (RATE, DROPOUT, UPDATE)
    """Settings whose planned values are the least certain, the most doubtful first (`regard tune`)."""
    has_trials: ClassVar[bool] = True
    """The training loop supports trials on micro-batches (doctor, races)."""

    def operation(self, name: str) -> Operation | None:
        """Return its operation of a name; None: it has none."""
        return next((each for each in self.operations if each.name == name), None)

    @property
    def selection_metrics(self) -> list[str]:
        """The metrics that `train.select_by` may name beside the loss."""
        return [metric.key for metric in self.metrics if metric.is_validated and metric.best == "max"]

    def metrics_of(self, settings: S) -> tuple[Metric, ...]:
        """Return the metrics of a run's models; the first validated one selects and ranks them."""
        return self.metrics

    @property
    def eval_source(self) -> type[Settings]:
        """The settings of a set to evaluate on."""
        return self.evaluated_on or self.source

    @property
    def eval_flags(self) -> str:
        """The flags that name a set to evaluate on."""
        return self.evaluation_flags or self.wording.data_flags

    @property
    def verbs(self) -> str:
        """The commands for such a model, in words."""
        names = [operation.name for operation in self.operations]
        return f"{', '.join(names)} or regard evaluate"

    def summary(self) -> dict[str, str | list[str]]:
        """Return what it trains, on what data, and what its models can do."""
        return {
            "trains": self.wording.noun,
            "data": self.wording.data_flags,
            "verbs": [each.name for each in self.operations],
            "metrics": [each.label for each in self.metrics],
            "models": list(self.files.kinds),
            "init_from": sorted(self.init_from.rates) if self.init_from else [],
        }

    def score_parts(self, sets: Mapping[str, Values]) -> list[Part]:
        """Return a table with a row a set, how the scores were computed, and the further tables of each set."""
        scores = score_table(self.counted, self.metrics, sets)
        parts: list[Part] = [(scores.header, scores.rows, range(1, len(scores.header))), *self.score_lines(sets)]
        if any(values.get("intervals") for values in sets.values()):
            parts.append("In brackets: 95 % intervals by bootstrap over the set.")
        for name, values in sets.items():
            for table in self.score_tables(name, values):
                parts += [f"\n{table.title}:", (table.header, table.rows, range(1, len(table.header)))]
        return parts

    @abstractmethod
    def settings(self, model: "type[ModelSettings]") -> type[S]:
        """Return the schema of a run with a model of some family."""

    preset: ClassVar[str]
    """The preset of a run for which neither preset nor family is chosen."""

    def shape(self, plan: PlanInput) -> Iterable[Default]:
        """Return the shape of the model for these data and this device, where no preset is chosen."""
        return ()

    def vocabulary_defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned settings on which the number of parameters depends."""
        return ()

    def defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned settings of a run, each with its reason; what is set holds over them."""
        return ()

    @abstractmethod
    def load_data(self, settings: S, context: Context) -> D:
        """Read, clean and split the data, and tokenize what does not depend on the model; no model is built.

        Several runs may share the data (races): then it was loaded with the settings of one of them.
        """

    @abstractmethod
    def build(self, settings: S, data: D, context: Context) -> "Bundle":
        """Return the model to train: the resumed one, or a new one, with the weights of a pretrained one if any."""

    @abstractmethod
    def prepare(self, settings: S, data: D, bundle: "Bundle", context: Context) -> "Prepared[D]":
        """Return what the training loop needs: feed, objective, validation, test sets, and the report on the data."""

    def train_tokens(self, prepared: "Prepared[D]") -> int:
        """Return the number of training tokens per epoch."""
        from regard.data.feeds.feed import PairFeed

        if isinstance(prepared.feed, PairFeed):
            return int(prepared.feed.corpus(0).lengths[1].sum())
        train = prepared.report.model_dump().get("train", {})
        return int(train.get("tokens") or train.get("words") or 0)

    def file_hashes(self, settings: S) -> dict[str, str]:
        """Return the SHA-256 of the data files; empty where the manifest of the tokenized text has them."""
        return {}

    def trainer(self, settings: S, prepared: "Prepared[D]", *parts: Any, **named: Any) -> Any:
        """Return the trainer of a run; `parts` and `named` are further arguments of the training loop."""
        from regard.training.loop import Trainer

        return Trainer(prepared.bundle.model, prepared.feed, prepared.objective, *parts, **named)

    def file_source(self, path: str, lines: Sequence[str] = ()) -> dict[str, object]:
        """Return a file as the settings of a source; `lines` are its records, where it is yet to be written."""
        return {"paths": [path]} if "path" not in self.eval_source.model_fields else {"path": path}

    def checks(self) -> Sequence[Check]:
        """Return the checks of the data; empty where examples are checked while they are read."""
        return ()

    @abstractmethod
    def pipeline(self, bundle: "Bundle", options: LoadOptions) -> P:
        """Return the pipeline of a model."""

    def quantization_cost(self, pipeline: P, record: "RunRecord | None", progress: Progress) -> str:
        """Return what quantized weights cost, in a sentence; the record is that of the model's run, if it has one."""
        return ""

    def check_bundle(self, bundle: "Bundle") -> None:
        """Refuse a model whose decoding defaults are invalid."""

    @abstractmethod
    def eval_sets(
        self, pipeline: P, source: Any, record: "RunRecord | None", folder: Path, progress: Progress
    ) -> "dict[str, EvalSet]":
        """Return the sets to score on: the one at a source, or those of a run's record.

        Tokenized text goes into the folder.
        """

    @abstractmethod
    def evaluate(
        self, pipeline: P, chosen: "EvalSet", options: EvaluateOptions, progress: Progress = SILENT
    ) -> Evaluation:
        """Return the evaluation of a model on one set, without intervals."""

    def constant(self, outputs: Sequence[str]) -> str:
        """Return the sentence on outputs that are all the same, a line an example; empty if they differ."""
        is_constant = len(outputs) > 1 and len(set(outputs)) == 1
        return f"all {len(outputs):,} outputs are {shown(outputs[0])}" if is_constant else ""

    @abstractmethod
    def statistics(self, pipeline: P, chosen: "EvalSet", outputs: Sequence[str]) -> "dict[str, Statistic]":
        """Return metrics of outputs for a set, a line an example, as functions of how often each example counts."""

    def sample_loss(self, pipeline: P, record: "RunRecord", examples: int) -> "SampleLoss":
        """Return the loss on so many examples of the validation set of a run, spread over it."""
        raise ConfigError(
            f"{self.wording.noun} has no loss on a sample of its validation data; choose another model."
        )

    @abstractmethod
    def set_hashes(self, chosen: "EvalSet") -> dict[str, Any]:
        """Return the hashes that identify a set: of its sources, and of each list of references."""

    def check_options(self, pipeline: P, options: EvaluateOptions, origin: str) -> None:
        """Refuse options that are for another kind of model of the task; `origin` is its name in messages."""

    def for_model(self, pipeline: P, chosen: "EvalSet", folder: Path, progress: Progress) -> "EvalSet":
        """Return a set that was made for another model as this one takes it."""
        return replace(chosen, encoded=None)

    def adapted(self, pipeline: P, chosen: "EvalSet", progress: Progress) -> "EvalSet":
        """Return a set as a model of another library takes it, whose config holds few facts."""
        return chosen

    def score_lines(self, scores: Mapping[str, Values]) -> list[str]:
        """Return the lines under a table of scores: signatures and decoding settings."""
        return []

    def score_tables(self, name: str, values: Values) -> "list[ScoreTable]":
        """Return further tables on the scores of a set, such as one by label."""
        return []

    def score_details(self, card: "CardInput", name: str, values: Values) -> list[str]:
        """Return the lines of a card on the scores of one set, beside its row in the table of all."""
        from regard.reporting.markdown import table

        tables = self.score_tables(name, values)
        return [line for each in tables for line in ("", *table(each.header, each.rows))]

    @abstractmethod
    def describe(self, card: "CardInput") -> list[str]:
        """Return the section of a card on the data, as lines of Markdown."""

    def usage_of(self, record: "RunRecord") -> tuple[Operation, ...]:
        """Return the operations of a run's model, their arguments as it takes them."""
        return self.operations

    def repeatability(self, record: "RunRecord") -> str:
        """Return one sentence on how reproducible the weights are."""
        return "On a CPU with the same data, version and number of threads the weights are the same to the bit."

    def plan(self, prepared: "Prepared[D]") -> dict[str, Any]:
        """Return the data sizes of a dry run."""
        return prepared.report.plan

    def shared_limit(self, members: Sequence[S]) -> dict[str, int]:
        """Return the settings with which all members of a race train on the same sequences."""
        return {}

    def suggested(self, bundle: "Bundle") -> Operation:
        """Return the operation to suggest for a model, some of whose heads may be untrained."""
        return self.operations[0]


AnyTask = Task[Any, Any, Any]


def find_task(name: str) -> AnyTask:
    """Return the task of that name."""
    task: AnyTask = registry.task(name)
    return task
