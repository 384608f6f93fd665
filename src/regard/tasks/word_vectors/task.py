"""The task `vectors`: running text in, a vector for each word out (word2vec)."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from regard.checkpoint.facts import TaskFiles
from regard.data.settings.text import DocumentSource
from regard.data.sources.memory import TEXT
from regard.models.base.settings import ModelSettings
from regard.pipelines.word_settings import NeighborOptions
from regard.pipelines.word_vectors import Neighbors, WordRow
from regard.progress import SILENT, Progress
from regard.tasks.contract import Task
from regard.tasks.declarations import (
    Check,
    Context,
    EvaluateOptions,
    LoadOptions,
    LossCurve,
    Metric,
    Operation,
    ScoreTable,
    Wording,
)
from regard.tasks.evaluation import Evaluation, Values
from regard.tasks.planning.inputs import Default, PlanInput
from regard.tasks.record import RunRecord
from regard.tasks.word_vectors.planning import vector_defaults
from regard.tasks.word_vectors.records import VectorScores, WordReport, WordVectorFacts
from regard.tasks.word_vectors.settings import VectorEvaluationSettings, VectorSettings

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.metrics.bootstrap import Statistic
    from regard.pipelines.word_vectors import WordVectors
    from regard.tasks.card import CardInput
    from regard.tasks.data import EvalSet, Prepared
    from regard.tasks.word_vectors.prepare import CountedWords


class WordEvaluation(EvaluateOptions):
    """Options of scoring word vectors."""

    candidates: int | None = Field(None, ge=1)
    """Restrict analogy answers to the N most frequent words (default: all)."""


class WordVectorTask(Task[VectorSettings[ModelSettings], "CountedWords", "WordVectors"]):
    """Word vectors by skip-gram or CBOW, with a trainer of their own."""

    name = "vectors"
    wording = Wording("a table of word vectors", "word vectors", "--text FILE or --text FOLDER", tokens="words")
    files = TaskFiles(WordVectorFacts, ("word-vectors",), has_unknown_row=False)
    source = DocumentSource
    rows = ({"text": TEXT},)
    evaluated_on, evaluation_flags = VectorEvaluationSettings, "--analogies FILE or --similarities FILE"
    evaluation = WordEvaluation
    report, scores = WordReport, VectorScores
    metrics = (
        Metric("accuracy", "accuracy"),
        Metric("spearman", "Spearman", ".3f"),
        Metric("pearson", "Pearson", ".3f"),
        Metric("questions", "questions", ",.0f"),
        Metric("pairs", "pairs", ",.0f"),
    )
    counted = ("covered", "covered")
    score_note = "Metrics are over what is covered: the questions and pairs whose words all have vectors."
    loss_curve = LossCurve("pair of words", "pair")
    operations = (
        Operation(
            "vectors neighbors",
            "List the nearest words.",
            WordRow,
            ("word",),
            NeighborOptions,
            Neighbors,
            example="WORD",
            call='vectors("word").neighbors',
            variable="vectors",
        ),
    )
    has_trials = False

    def settings(self, model: type[ModelSettings]) -> type[VectorSettings[ModelSettings]]:
        """Return the schema of a run."""
        return VectorSettings[model]  # type: ignore[valid-type]

    preset = "skip-gram"

    def defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned number of epochs."""
        return vector_defaults(plan)

    def load_data(self, settings: VectorSettings[ModelSettings], context: Context) -> "CountedWords":
        """Return the text as word ids, and the counts of its words."""
        from regard.tasks.word_vectors.prepare import load_words

        return load_words(settings, context)

    def build(self, settings: VectorSettings[ModelSettings], data: "CountedWords", context: Context) -> "Bundle":
        """Return the two matrices."""
        from regard.tasks.word_vectors.prepare import new_vectors

        return context.resumed or new_vectors(settings, data.tokenizer, context.machine, context.progress)

    def prepare(
        self, settings: VectorSettings[ModelSettings], data: "CountedWords", bundle: "Bundle", context: Context
    ) -> "Prepared[CountedWords]":
        """Return the feed of the trainer, and the report."""
        from regard.tasks.word_vectors.prepare import prepare_vectors

        return prepare_vectors(settings, data, bundle)

    def trainer(
        self, settings: VectorSettings[ModelSettings], prepared: "Prepared[CountedWords]", *parts: Any, **named: Any
    ) -> Any:
        """Return the trainer of word vectors, whose steps are sparse and need no autograd."""
        from regard.models.word_vectors import WordVectorSettings
        from regard.training.word2vec.trainer import VectorTrainer

        assert isinstance(settings.model, WordVectorSettings)
        for name in ("width", "clock"):
            named.pop(name)
        feed: Any = prepared.feed
        return VectorTrainer(
            prepared.bundle.model, feed, settings.objective, *parts, algorithm=settings.model.algorithm, **named
        )

    def checks(self) -> Sequence[Check]:
        """Return the checks of the words."""
        from regard.tasks.word_vectors.checks import word_findings

        return (Check("words", word_findings, lambda data: []),)

    def pipeline(self, bundle: "Bundle", options: LoadOptions) -> "WordVectors":
        """Return the vectors by word."""
        from regard.pipelines.word_vectors import WordVectors

        return WordVectors.of_bundle(bundle)

    def eval_sets(
        self, pipeline: "WordVectors", source: Any, record: RunRecord | None, folder: Path, progress: Progress
    ) -> "dict[str, EvalSet]":
        """Return the analogies and rated pairs in files: those given, or those that the run's settings name."""
        from regard.tasks.word_vectors.evaluate import word_sets

        if source is None:
            assert record is not None
            values = json.dumps(record.settings.plain.get("evaluation", {}))
            source = VectorEvaluationSettings.model_validate_json(values)
        return word_sets(source)

    def evaluate(
        self, pipeline: "WordVectors", chosen: "EvalSet", options: EvaluateOptions, progress: Progress = SILENT
    ) -> Evaluation:
        """Return the accuracy on analogies, or the correlation with rated pairs."""
        from regard.tasks.word_vectors.evaluate import evaluate_words

        candidates = options.candidates if isinstance(options, WordEvaluation) else None
        return evaluate_words(pipeline, chosen, candidates, progress)

    def statistics(
        self, pipeline: "WordVectors", chosen: "EvalSet", outputs: Sequence[str]
    ) -> "dict[str, Statistic]":
        """Return the metrics as functions of how often each question or pair counts."""
        from regard.tasks.word_vectors.evaluate import word_statistics

        return word_statistics(chosen, outputs)

    def set_hashes(self, chosen: "EvalSet") -> dict[str, Any]:
        """Return the hashes of questions and answers, or of pairs and ratings."""
        from regard.tasks.word_vectors.evaluate import set_hashes

        return set_hashes(chosen)

    def score_tables(self, name: str, values: Values) -> list[ScoreTable]:
        """Return the accuracy on each section of analogies."""
        from regard.tasks.word_vectors.evaluate import section_table

        return section_table(name, VectorScores.model_validate(values).sections)

    def describe(self, card: "CardInput") -> list[str]:
        """Return the section on the data."""
        from regard.tasks.word_vectors.card import data_section

        return data_section(card)

    def repeatability(self, record: RunRecord) -> str:
        """Return how exactly the run repeats: threads update vectors without locks."""
        if record.machine is not None and (record.machine.threads != 1 or record.machine.device != "cpu"):
            return (
                "Threads that update vectors without locks give other vectors each time; `--threads 1` on a CPU "
                "repeats exactly."
            )
        return super().repeatability(record)


TASK = WordVectorTask()
