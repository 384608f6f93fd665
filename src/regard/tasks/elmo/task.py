"""The task `elmo`: running text in, a bidirectional language model over characters out."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from regard.checkpoint.facts import TaskFiles
from regard.data.settings.text import TextSource
from regard.models.base.settings import ModelSettings
from regard.pipelines.embedding import EmbedOptions
from regard.pipelines.encoder_results import TokenVectors
from regard.pipelines.inputs import SingleText
from regard.pipelines.similarity import Similarity, SimilarOptions, TextPair, TextSimilarity
from regard.progress import SILENT, Progress
from regard.reporting.markdown import code
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
from regard.tasks.record import RunRecord
from regard.tasks.text.settings import CONTINUED_RATE
from regard.tasks.text.task import TextTask

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.data.corpus.splits import TextSplits
    from regard.metrics.bootstrap import Statistic
    from regard.tasks.card import CardInput
    from regard.tasks.data import EvalSet, Prepared
    from regard.tasks.elmo.pipeline import ElmoEncoder


class ElmoTask(TextTask[ElmoRunSettings[ModelSettings], "TextSplits", "ElmoEncoder"]):
    """Bidirectional language modeling over characters (Peters et al., 2018)."""

    name = "elmo"
    wording = Wording("an ELMo", "ELMos", "--text FILE or --text FOLDER", shorten="shorter windows (window)")
    files = TaskFiles(ElmoFacts, ("bidirectional-lm",), roles=(frozenset({"tokenizer", "words"}),))
    source = TextSource
    report, unit = ElmoReport, "characters"
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

    def score_lines(self, scores: Mapping[str, Values]) -> list[str]:
        """Return the size of the output vocabulary and of the windows."""
        first = next(iter(scores.values()))
        return [
            f"output vocabulary of {first['vocabulary']:,} words; evaluated in windows of about "
            f"{first['window']:,} words"
        ]

    def sequences(self, record: RunRecord) -> str:
        """Return a sentence on the windows and the output vocabulary."""
        report = record.report
        return (
            f"Words are encoded byte by byte (the token before each is counted as a character), in windows of about "
            f"{report.window:,} words; the output vocabulary has {report.vocabulary:,}."
        )

    def describe(self, card: "CardInput") -> list[str]:
        """Return the section on the data, and how the model's vectors are used."""
        command = f"regard train classify --data reviews.csv --init-from {shlex.quote(str(card.path))}"
        return [
            *super().describe(card),
            "",
            f"A classifier or a tagger takes its vectors as features: {code(command)}.",
        ]


TASK = ElmoTask()
