"""The task `masked-language-model`: running text in, a BERT-like text encoder out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from regard.checkpoint.facts import TaskFiles
from regard.data.settings.text import DocumentSource, MaskedTextData, SentenceRule
from regard.models.base.settings import ModelSettings
from regard.pipelines.embedding import Embedding, EmbedOptions
from regard.pipelines.inputs import SingleText
from regard.pipelines.mask_filling import FillOptions, MaskFilling
from regard.pipelines.similarity import Similarity, SimilarOptions, TextPair, TextSimilarity
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
    Wording,
)
from regard.tasks.evaluation import Evaluation, Values
from regard.tasks.masked_lm.records import MaskedFacts, MaskedReport
from regard.tasks.masked_lm.settings import MaskedSettings
from regard.tasks.planning import rules, shapes
from regard.tasks.planning.inputs import Default, PlanInput
from regard.tasks.record import RunRecord
from regard.tasks.text.checks import text_checks
from regard.tasks.text.settings import CONTINUED_RATE
from regard.tasks.text.task import TextTask

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.metrics.bootstrap import Statistic
    from regard.pipelines.encoder import Encoder
    from regard.tasks.data import EvalSet, Prepared, SampleLoss, TextTaskData


class MaskedLanguageModel(TextTask[MaskedSettings[ModelSettings], "TextTaskData", "Encoder"]):
    """Masked language modeling with next-sentence prediction."""

    name = "masked-language-model"
    wording = Wording(
        "a masked language model",
        "masked language models",
        "--text FILE or --text FOLDER",
        shorten="shorter sequences (sequences.length)",
    )
    files = TaskFiles(MaskedFacts, ("encoder",))
    source = DocumentSource
    report, data = MaskedReport, MaskedTextData
    metrics = (
        Metric("pseudo_perplexity", "pseudo-perplexity", ".2f", "min"),
        Metric("mlm_loss", "loss", ".4f", "min"),
        Metric("masked_accuracy", "accuracy", is_validated=True),
        Metric("majority_baseline", "majority baseline"),
        Metric("next_sentence_accuracy", "next-sentence accuracy"),
    )
    counted = ("masked", "masked tokens")
    score_note = (
        "Masks and pairs are the same at every evaluation. The loss is in nats per masked token, the "
        "pseudo-perplexity its exponential; the majority baseline is the fraction of the most frequent of these "
        "tokens. Metrics can be compared between models with the same tokenizer only."
    )
    loss_curve = LossCurve("masked token", "mlm", "valid_mlm_loss")
    operations = (
        Operation(
            "fill",
            "Fill masked tokens.",
            SingleText,
            ("text",),
            FillOptions,
            MaskFilling,
            protocols=("huggingface:fill-mask",),
            method="fill",
            details="Masks are predicted independently; the filled text has the most probable tokens at other masks. "
            "For files and pipes the line number comes first, and blank lines are left out.",
            arguments='"A text with a [MASK] in it."',
            example='"Your text with a [MASK] in it."',
            call='encoder.fill("Your text with a [MASK] in it.").filled',
            variable="encoder",
        ),
        Operation(
            "embed",
            "Embed texts.",
            SingleText,
            ("text",),
            EmbedOptions,
            Embedding,
            protocols=("openai:embeddings", "huggingface:feature-extraction"),
            takes_encoders=True,
            details="With --tokens, each token has a line, and a blank line ends a text; --out FILE.npz has arrays.",
            example='"your text"',
        ),
        Operation(
            "similar",
            "Compare texts.",
            TextPair,
            ("text", "second"),
            SimilarOptions,
            Similarity,
            wraps=TextSimilarity,
            protocols=("huggingface:sentence-similarity",),
        ),
    )
    init_from = InitFrom({"encoder": CONTINUED_RATE}, may_change=("next_sentence_head",))

    def settings(self, model: type[ModelSettings]) -> type[MaskedSettings[ModelSettings]]:
        """Return the schema of a run."""
        return MaskedSettings[model]  # type: ignore[valid-type]

    preset = "bert-tiny"

    def shape(self, plan: PlanInput) -> Iterable[Default]:
        """Return a larger shape for a GPU."""
        return shapes.encoder_shape(plan)

    def vocabulary_defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned size of the vocabulary."""
        return rules.vocabulary(plan, largest=30_000)

    def defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned settings of a masked language model's training."""
        yield from rules.training(plan, patience=4)
        yield from rules.adamw(0.01, (0.9, 0.98), "BERT")
        yield from rules.dropout(plan, ("dropout", "embedding_dropout", "attention_dropout"), most=0.1)
        yield from rules.init_spread(plan)

    def load_data(self, settings: MaskedSettings[ModelSettings], context: Context) -> "TextTaskData":
        """Return the text tokenized."""
        from regard.tasks.text.corpora import load_text

        return load_text(settings, context)

    def build(self, settings: MaskedSettings[ModelSettings], data: "TextTaskData", context: Context) -> "Bundle":
        """Return the masked language model to train."""
        from regard.tasks.masked_lm.prepare import build_bundle

        return build_bundle(settings, data, context)

    def prepare(
        self, settings: MaskedSettings[ModelSettings], data: "TextTaskData", bundle: "Bundle", context: Context
    ) -> "Prepared[TextTaskData]":
        """Return masked sequences as updates, objective, validation, test sets and report."""
        from regard.tasks.masked_lm.prepare import prepare_masked

        return prepare_masked(settings, data, bundle, context)

    def checks(self) -> Sequence[Check]:
        """Return the checks of running text."""
        from regard.tasks.masked_lm.prepare import size_findings

        return text_checks(size_findings)

    def pipeline(self, bundle: "Bundle", options: LoadOptions) -> "Encoder":
        """Return a text encoder that fills masks."""
        from regard.pipelines.encoder import Encoder

        return Encoder(bundle)

    def evaluate(
        self, pipeline: "Encoder", chosen: "EvalSet", options: EvaluateOptions, progress: Progress = SILENT
    ) -> Evaluation:
        """Return losses and accuracies of masked tokens and next sentences."""
        from regard.tasks.masked_lm.evaluate import evaluate_masked

        return evaluate_masked(pipeline, chosen)

    def sample_loss(self, pipeline: "Encoder", record: RunRecord, examples: int) -> "SampleLoss":
        """Return the loss of masked tokens in windows of the validation text."""
        from regard.tasks.masked_lm.evaluate import sample_sequences

        return sample_sequences(pipeline, record, examples)

    def statistics(self, pipeline: "Encoder", chosen: "EvalSet", outputs: Sequence[str]) -> "dict[str, Statistic]":
        """Return the metrics as functions of how often each sequence counts."""
        from regard.tasks.masked_lm.evaluate import masked_statistics

        return masked_statistics(outputs)

    def sentences(self, pipeline: "Encoder") -> SentenceRule:
        """Return the rule that splits a model's texts into sentences."""
        return MaskedFacts.read(pipeline.bundle).sentences

    def sequences(self, record: RunRecord) -> str:
        """Return a sentence on sentences and sequences."""
        rule = "a line each" if record.settings.data["sentences"] == "lines" else "at full stops and their like"
        return (
            f"Sentences are split {rule} (the token after each is counted too); sequences have up to "
            f"{record.report.window:,} tokens."
        )

    def score_lines(self, scores: Mapping[str, Values]) -> list[str]:
        """Return the rule of masking."""
        return [f"masking: {next(iter(scores.values()))['rule']}"]

    def suggested(self, bundle: "Bundle") -> Operation:
        """Return `embed` for a model whose masked-LM head is untrained."""
        from regard.interop.huggingface.encoder_configs import MASKED_WORDS

        is_bare = MASKED_WORDS in MaskedFacts.read(bundle).untrained
        return self.operations[1] if is_bare else self.operations[0]


TASK = MaskedLanguageModel()
