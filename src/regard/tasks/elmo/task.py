"""The task `elmo`: running text in, a bidirectional language model over characters out."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.checkpoint.facts import TaskFiles
from regard.data.settings.text import TextData, TextSource
from regard.data.sources.memory import TEXT
from regard.models.base.settings import ModelSettings
from regard.pipelines.embedding import EmbedOptions
from regard.pipelines.encoder_results import TokenVectors
from regard.pipelines.inputs import SingleText
from regard.pipelines.similarity import Similarity, SimilarOptions, TextPair, TextSimilarity
from regard.progress import SILENT, Progress
from regard.tasks.contract import Task
from regard.tasks.declarations import (
    Context,
    EvaluateOptions,
    InitFrom,
    LoadOptions,
    LossCurve,
    Metric,
    Operation,
    Wording,
)
from regard.tasks.elmo.records import ElmoFacts, ElmoReport
from regard.tasks.elmo.settings import ElmoRunSettings
from regard.tasks.evaluation import Evaluation, Values
from regard.tasks.planning import rules, shapes
from regard.tasks.planning.inputs import Default, PlanInput
from regard.tasks.record import RunRecord, ScoresRecord
from regard.tasks.text.settings import CONTINUED_RATE

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.data.corpus.splits import TextSplits
    from regard.metrics.bootstrap import Statistic
    from regard.tasks.card import CardInput
    from regard.tasks.data import EvalSet, Prepared
    from regard.tasks.elmo.pipeline import ElmoEncoder


class ElmoTask(Task[ElmoRunSettings[ModelSettings], "TextSplits", "ElmoEncoder"]):
    """Bidirectional language modeling over characters (Peters et al., 2018)."""

    name = "elmo"
    wording = Wording("an ELMo", "ELMos", "--text FILE or --text FOLDER", shorten="shorter windows (window)")
    files = TaskFiles(ElmoFacts, ("bidirectional-lm",), roles=(frozenset({"tokenizer", "words"}),))
    source = TextSource
    rows = ({"text": TEXT},)
    report, scores = ElmoReport, ScoresRecord
    metrics = (
        Metric("perplexity", "perplexity", ".2f", "min"),
        Metric("oov_fraction", "out of vocabulary", best="min"),
        Metric("forward_loss", "forward loss", best="min"),
        Metric("backward_loss", "backward loss", best="min"),
        Metric("forward_perplexity", "forward perplexity", ".2f", "min", is_validated=True),
        Metric("backward_perplexity", "backward perplexity", ".2f", "min", is_validated=True),
    )
    counted = ("words", "words")
    score_note = (
        "Forward predicts each word from those before it, backward from those after it, in nats per word; a word "
        "outside the output vocabulary counts as unknown. Metrics can be compared between models with the same "
        "output vocabulary only."
    )
    loss_curve = LossCurve("word", "forward")
    operations = (
        Operation(
            "embed",
            "Embed the words of texts in their context.",
            SingleText,
            ("text",),
            EmbedOptions,
            TokenVectors,
            takes_encoders=True,
            arguments="TEXT --tokens",
            example='"The bank lent her money." --tokens',
            call='elmo.tokens("The bank lent her money.").vectors',
            variable="elmo",
        ),
        Operation(
            "similar",
            "Compare texts, or a word in two contexts.",
            TextPair,
            ("text", "second"),
            SimilarOptions,
            Similarity,
            wraps=TextSimilarity,
            protocols=("huggingface:sentence-similarity",),
            example='"She sat on the bank of the river." "The bank lent her money." --word bank',
        ),
    )
    init_from = InitFrom({"bidirectional-lm": CONTINUED_RATE})

    def settings(self, model: type[ModelSettings]) -> type[ElmoRunSettings[ModelSettings]]:
        """Return the schema of a run."""
        return ElmoRunSettings[model]  # type: ignore[valid-type]

    preset = "elmo-tiny"

    def shape(self, plan: PlanInput) -> Iterable[Default]:
        """Return wider cells for a GPU."""
        return shapes.elmo_shape(plan)

    def defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned settings of an ELMo's training."""
        yield from rules.training(plan, patience=4)
        yield Default("train.betas", [0.9, 0.99], "recurrent language models")
        yield from rules.dropout(plan, ("dropout",))

    def load_data(self, settings: ElmoRunSettings[ModelSettings], context: Context) -> "TextSplits":
        """Return the text as bytes."""
        from regard.tasks.elmo.prepare import load_bytes

        return load_bytes(settings, context)

    def build(self, settings: ElmoRunSettings[ModelSettings], data: "TextSplits", context: Context) -> "Bundle":
        """Return the ELMo to train."""
        from regard.tasks.elmo.prepare import new_elmo_bundle

        return context.resumed or new_elmo_bundle(settings, data.train, context)

    def prepare(
        self, settings: ElmoRunSettings[ModelSettings], data: "TextSplits", bundle: "Bundle", context: Context
    ) -> "Prepared[TextSplits]":
        """Return characters of words as updates, objective, validation, test sets and report."""
        from regard.tasks.elmo.prepare import prepare_elmo

        return prepare_elmo(settings, data, bundle, context.machine)

    def pipeline(self, bundle: "Bundle", options: LoadOptions) -> "ElmoEncoder":
        """Return an encoder of words in context."""
        from regard.tasks.elmo.pipeline import ElmoEncoder

        return ElmoEncoder(bundle)

    def eval_sets(
        self,
        pipeline: "ElmoEncoder",
        source: TextSource | None,
        record: RunRecord | None,
        folder: Path,
        progress: Progress,
    ) -> "dict[str, EvalSet]":
        """Return the text at a source, or the test sets of a run."""
        from regard.tasks.text.corpora import text_sets

        return text_sets(source, record, TextData, pipeline.tokenizer, folder, progress)

    def evaluate(
        self, pipeline: "ElmoEncoder", chosen: "EvalSet", options: EvaluateOptions, progress: Progress = SILENT
    ) -> Evaluation:
        """Return losses and perplexities of both directions on a text."""
        from regard.tasks.elmo.evaluate import evaluate_elmo

        return evaluate_elmo(pipeline, chosen)

    def statistics(
        self, pipeline: "ElmoEncoder", chosen: "EvalSet", outputs: Sequence[str]
    ) -> "dict[str, Statistic]":
        """Return the metrics as functions of how often each window counts."""
        from regard.tasks.elmo.evaluate import elmo_statistics

        return elmo_statistics(outputs)

    def set_hashes(self, chosen: "EvalSet") -> dict[str, Any]:
        """Return the hash of the text."""
        from regard.tasks.text.corpora import text_hashes

        return text_hashes(chosen)

    def for_model(self, pipeline: "ElmoEncoder", chosen: "EvalSet", folder: Path, progress: Progress) -> "EvalSet":
        """Return a text in the tokens of another model."""
        from regard.tasks.text.corpora import retokenized

        return retokenized(chosen, pipeline.tokenizer, folder, progress)

    def score_lines(self, scores: Mapping[str, Values]) -> list[str]:
        """Return the size of the output vocabulary and of the windows."""
        first = next(iter(scores.values()))
        return [
            f"output vocabulary of {first['vocabulary']:,} words; evaluated in windows of about "
            f"{first['window']:,} words"
        ]

    def describe(self, card: "CardInput") -> list[str]:
        """Return the section on the data."""
        from regard.tasks.elmo.card import data_section

        return data_section(card)


TASK = ElmoTask()
