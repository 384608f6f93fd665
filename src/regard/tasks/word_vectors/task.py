"""The task `vectors`: running text in, a vector for each word out (word2vec)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.checkpoint.facts import TaskFiles
from regard.data.settings.text import DocumentSource
from regard.errors import ConfigError
from regard.models.base.settings import ModelSettings
from regard.pipelines.base import Options
from regard.pipelines.word_vectors import Neighbor, WordRow
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
from regard.tasks.evaluation import Evaluation
from regard.tasks.record import RunRecord
from regard.tasks.word_vectors.records import VectorScores, WordReport, WordVectorFacts
from regard.tasks.word_vectors.settings import VectorEvaluationSettings, VectorSettings

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.pipelines.word_vectors import WordVectors
    from regard.tasks.card import CardInput
    from regard.tasks.data import EvalSet, Prepared
    from regard.tasks.word_vectors.prepare import PreparedWords

ANALOGIES = "analogies"


class WordVectorTask(Task[VectorSettings[ModelSettings], "PreparedWords", "WordVectors"]):
    """Word vectors by skip-gram or CBOW, with a trainer of their own."""

    name = "vectors"
    wording = Wording("a table of word vectors", "word vectors", "--text FILE or --text FOLDER", tokens="words")
    files = TaskFiles(WordVectorFacts, ("word-vectors",), has_unknown_row=False)
    source = DocumentSource
    evaluated_with = "regard vectors evaluate --analogies FILE or --similarities FILE"
    report, scores = WordReport, VectorScores
    metrics = (Metric("accuracy", "accuracy"), Metric("spearman", "Spearman", ".3f"))
    counted = ("covered", "covered")
    loss_curve = LossCurve("pair of words", "pair")
    operations = (
        Operation(
            "vectors neighbors",
            "List the nearest words.",
            WordRow,
            ("word",),
            Options,
            Neighbor,
            method="neighbors",
            example="WORD",
            call='vectors.neighbors("word")',
            variable="vectors",
        ),
    )
    has_trials = False

    def settings(self, model: type[ModelSettings]) -> type[VectorSettings[ModelSettings]]:
        """Return the schema of a run."""
        return VectorSettings[model]  # type: ignore[valid-type]

    def defaults(self) -> dict[str, Any]:
        """Return the settings of the plain command."""
        return {"model": {"preset": "skip-gram"}}

    def prepare(self, settings: VectorSettings[ModelSettings], context: Context) -> "Prepared[PreparedWords]":
        """Return the text as word ids, and the two matrices."""
        from regard.tasks.word_vectors.prepare import prepare_vectors

        return prepare_vectors(settings, context)

    def trainer(
        self, settings: VectorSettings[ModelSettings], prepared: "Prepared[PreparedWords]", *parts: Any, **named: Any
    ) -> Any:
        """Return the trainer of word vectors, whose steps are sparse and need no autograd."""
        from regard.models.word_vectors import WordVectorSettings
        from regard.training.word2vec.trainer import VectorTrainer

        assert isinstance(settings.model, WordVectorSettings)
        named.pop("width")
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
        """Return the files of analogies and of rated pairs that the run's settings name."""
        from regard.tasks.data import EvalSet

        if source is not None or record is None:
            raise ConfigError(
                "Word vectors are scored on analogies and rated pairs; use regard vectors evaluate with --analogies "
                "FILE and --similarities FILE."
            )
        files = VectorEvaluationSettings.model_validate_json(json.dumps(record.settings.plain.get("evaluation", {})))
        analogies = {} if files.analogies is None else {ANALOGIES: EvalSet(ANALOGIES, Path(files.analogies))}
        return analogies | {path: EvalSet(path, Path(path)) for path in files.similarities}

    def evaluate(
        self, pipeline: "WordVectors", chosen: "EvalSet", options: EvaluateOptions, progress: Progress = SILENT
    ) -> Evaluation:
        """Return the accuracy on analogies, or the correlation with rated pairs."""
        from regard.tasks.word_vectors.evaluate import plain_analogies, score_analogies, score_similarities

        if chosen.name == ANALOGIES:
            return Evaluation(ANALOGIES, plain_analogies(score_analogies(pipeline, chosen.rows, progress=progress)))
        return Evaluation(chosen.name, asdict(score_similarities(pipeline, chosen.rows)))

    def record_scores(self, evaluations: Sequence[Evaluation]) -> dict[str, Any]:
        """Return the analogies and the similarities, as run.json keeps them."""
        analogies = [each.metrics for each in evaluations if each.name == ANALOGIES]
        similarities = [each.metrics for each in evaluations if each.name != ANALOGIES]
        first = {ANALOGIES: analogies[0]} if analogies else {}
        return first | ({"similarities": similarities} if similarities else {})

    def split_scores(self, scores: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return all scores in one part."""
        return {"": scores}

    def best_score(self, scores: Mapping[str, Any]) -> tuple[str, float, str] | None:
        """Return the accuracy on all analogies, or else the first correlation."""
        typed = VectorScores.model_validate(scores)
        if typed.analogies is not None and typed.analogies.total.accuracy is not None:
            return "accuracy", round(typed.analogies.total.accuracy, 4), ANALOGIES
        for each in typed.similarities:
            if each.spearman is not None:
                return "Spearman", round(each.spearman, 4), Path(each.path).name
        return None

    def score_tables(self, scores: Mapping[str, Any]) -> list[ScoreTable]:
        """Return the tables of analogies and of rated pairs."""
        from regard.tasks.word_vectors.evaluate import analogy_table, similarity_table

        typed = VectorScores.model_validate(scores)
        return [*analogy_table(typed.analogies), *similarity_table(typed.similarities)]

    def describe(self, card: "CardInput") -> list[list[str]]:
        """Return the sections on scores and data."""
        from regard.tasks.word_vectors.card import data_section, scores_section

        return [scores_section(card), data_section(card)]

    def plan(self, prepared: "Prepared[PreparedWords]") -> dict[str, Any]:
        """Return how many words there are."""
        return {"train_words": prepared.data.report.train.words}

    def repeatability(self, record: RunRecord) -> str:
        """Return how exactly the run repeats: threads update vectors without locks."""
        if record.machine is not None and (record.machine.threads != 1 or record.machine.device != "cpu"):
            return (
                "Threads that update vectors without locks give other vectors each time; `--threads 1` on a CPU "
                "repeats exactly."
            )
        return super().repeatability(record)


TASK = WordVectorTask()
