"""The task `translate`: sentence pairs in, a translator out."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from regard.checkpoint.facts import TaskFiles
from regard.data.settings.pairs import PairData, PairSource
from regard.data.sources.memory import TEXT
from regard.data.sources.pair import Pair
from regard.errors import ConfigError
from regard.models.base.settings import ModelSettings
from regard.progress import SILENT, Progress
from regard.tasks.contract import Task
from regard.tasks.declarations import (
    Check,
    Context,
    EvaluateOptions,
    InitFrom,
    Listing,
    LoadOptions,
    LossCurve,
    Metric,
    Operation,
    Wording,
)
from regard.tasks.evaluation import Evaluation, Values, decoding_words
from regard.tasks.planning import rules
from regard.tasks.planning.inputs import Default, PlanInput
from regard.tasks.record import RunRecord, ScoresRecord
from regard.tasks.translate.options import MaskPredictOptions, PairScoreOptions, SourceRow, TranslateOptions
from regard.tasks.translate.planning import translator_defaults, translator_shape
from regard.tasks.translate.records import PairReport, TranslateFacts
from regard.tasks.translate.results import PairScore, Translation
from regard.tasks.translate.schema import translate_settings
from regard.tasks.translate.settings import PairRunSettings

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.metrics.bootstrap import Statistic
    from regard.tasks.card import CardInput
    from regard.tasks.data import EvalSet, Prepared, SampleLoss, TranslationData
    from regard.tasks.translate.pipeline import Translator

CONTINUED_RATE = 1e-4
"""Peak rate of training a translator further on other pairs: about a tenth of that from scratch at the same width."""


class TranslateEvaluation(EvaluateOptions):
    """Options of scoring a translator."""

    beam_size: int | None = Field(None, ge=1)
    """Beam size; 1 is greedy decoding (default: the checkpoint's)."""
    iterations: int | None = Field(None, ge=1)
    """Mask-predict iterations (default: the checkpoint's)."""
    max_source_length: int | None = Field(None, ge=1)
    """Maximum source length in tokens; longer sentences count as empty translations (default: the checkpoint's)."""
    papers: bool = False
    """Also compute BLEU lowercased and tokenized, as some papers report it."""


class Translate(Task[PairRunSettings[ModelSettings], "TranslationData", "Translator"]):
    """Translation between two languages, by any sequence-to-sequence model."""

    name = "translate"
    wording = Wording(
        "a translator",
        "translators",
        "--source FILE --target FILE, or --data FILE",
        tokens="target tokens",
        shorten="shorter sentences (data.cleaning.max_tokens)",
        examples="pairs",
    )
    files = TaskFiles(
        TranslateFacts,
        ("seq2seq", "conditional-masked-lm"),
        roles=(frozenset({"tokenizer"}), frozenset({"source", "target"})),
    )
    source = PairSource
    rows = ({"source": TEXT, "target": TEXT},)
    report, scores = PairReport, ScoresRecord
    metrics = (
        Metric("bleu", "BLEU", ".2f", is_validated=True, is_raced=True, validated_as="greedy, first sentences"),
        Metric("chrf", "chrF", ".2f"),
        Metric("ter", "TER", ".2f", "min"),
        Metric("loss", "loss", ".3f", "min", is_raced=True),
        Metric("perplexity", "perplexity", ".2f", "min"),
        Metric("sentences_per_second", "sentences/s", ".0f"),
    )
    counted = ("sentences", "sentences")
    score_note = (
        "BLEU, chrF and TER are of the outputs for all sentences, with the decoding named; BLEU during training is "
        "greedy, on the first validation sentences. The loss is in nats per target token, without label smoothing."
    )
    loss_curve = LossCurve("target token")
    operations = (
        Operation(
            "translate",
            "Translate text.",
            SourceRow,
            ("source",),
            TranslateOptions,
            Translation,
            streams=True,
            arguments="TEXT",
            more_options=(MaskPredictOptions,),
            views=(Listing("alternatives", "Next tokens to list after --prefix, each with its best translation."),),
            takes_blank=True,
            details="Defaults are the run's settings under decode.",
            protocols=("libretranslate:translate", "huggingface:translation"),
            example='"your text"',
            call='translator("your text").text',
            variable="translator",
        ),
        Operation(
            "score",
            "Score given translations.",
            Pair,
            ("source", "target"),
            PairScoreOptions,
            PairScore,
            method="score",
            arguments="SOURCE_FILE TARGET_FILE",
        ),
    )
    evaluation = TranslateEvaluation
    init_from = InitFrom(dict.fromkeys(("seq2seq", "conditional-masked-lm"), CONTINUED_RATE), takes_word_vectors=True)
    loads = frozenset({"ensemble"})

    def settings(self, model: type[ModelSettings]) -> type[PairRunSettings[ModelSettings]]:
        """Return the schema of a run: beam search or mask-predict, by the model's family."""
        return translate_settings(model)

    preset = "transformer-small"

    def shape(self, plan: PlanInput) -> Iterable[Default]:
        """Return the depth: as many updates as a device affords."""
        return translator_shape(plan)

    def vocabulary_defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned size of the vocabulary."""
        return rules.vocabulary(plan)

    def defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned settings of a translator's training."""
        return translator_defaults(plan)

    def load_data(self, settings: PairRunSettings[ModelSettings], context: Context) -> "TranslationData":
        """Return the pairs cleaned and encoded."""
        from regard.tasks.translate.prepare import load_pairs

        return load_pairs(settings, context)

    def build(self, settings: PairRunSettings[ModelSettings], data: "TranslationData", context: Context) -> "Bundle":
        """Return the translator to train."""
        from regard.tasks.translate.prepare import build_bundle

        return build_bundle(settings, data, context)

    def prepare(
        self,
        settings: PairRunSettings[ModelSettings],
        data: "TranslationData",
        bundle: "Bundle",
        context: Context,
    ) -> "Prepared[TranslationData]":
        """Return feed, objective, validation, test sets and report."""
        from regard.tasks.translate.prepare import prepare_pairs

        return prepare_pairs(settings, data, bundle, context.machine)

    def train_tokens(self, prepared: "Prepared[TranslationData]") -> int:
        """Return how many target tokens an epoch trains on."""
        return int(prepared.data.encoded.target.lengths.sum())

    def file_hashes(self, settings: PairRunSettings[ModelSettings]) -> dict[str, str]:
        """Return the SHA-256 of the files of pairs."""
        from regard.tasks.translate.prepare import file_hashes

        return file_hashes(settings.data)

    def checks(self) -> Sequence[Check]:
        """Return the checks of sentence pairs."""
        from regard.tasks.checks.alignment import alignment_findings, quick_alignment_findings
        from regard.tasks.checks.sizes import size_findings
        from regard.tasks.checks.splits import split_findings
        from regard.tasks.checks.tokenizers import text_findings

        return (
            Check("text", text_findings, text_findings),
            Check("splits", split_findings, split_findings),
            Check("alignment", alignment_findings, quick_alignment_findings),
            Check("sizes", size_findings, size_findings),
        )

    def pipeline(self, bundle: "Bundle", options: LoadOptions) -> "Translator":
        """Return a translator, or an ensemble of them."""
        from regard.tasks.translate.mask_predict import build_translator

        return build_translator(bundle, list(options.ensemble))

    def check_bundle(self, bundle: "Bundle") -> None:
        """Refuse a model whose decoding defaults are invalid."""
        self.pipeline(bundle, LoadOptions()).options()

    def eval_sets(
        self,
        pipeline: "Translator",
        source: PairSource | None,
        record: RunRecord | None,
        folder: Path,
        progress: Progress,
    ) -> "dict[str, EvalSet]":
        """Return the pairs at a source, or the test sets of a run."""
        from regard.tasks.translate.evaluate import own_sets, read_pair_set

        if source is not None:
            return {source.name: read_pair_set(source.name, source, progress)}
        assert record is not None
        return own_sets(record.data_settings(PairData), progress)

    def check_options(self, pipeline: "Translator", options: EvaluateOptions, origin: str) -> None:
        """Refuse a beam size for a mask-predict translator, and iterations for any other."""
        from regard.tasks.translate.mask_predict import MaskPredictTranslator

        is_masked = isinstance(pipeline, MaskPredictTranslator)
        name, others = ("beam_size", "autoregressive") if is_masked else ("iterations", "mask-predict")
        kind = "a mask-predict translator" if is_masked else "an autoregressive translator"
        value = getattr(options, name, None)
        if value is not None:
            flag = f"--{name.replace('_', '-')} {value}"
            raise ConfigError(f"{flag}: for {others} translators, and {origin} is {kind}; leave it out.")

    def evaluate(
        self, pipeline: "Translator", chosen: "EvalSet", options: EvaluateOptions, progress: Progress = SILENT
    ) -> Evaluation:
        """Return BLEU, chrF, TER, loss and speed on a set."""
        from regard.tasks.translate.evaluate import evaluate_pairs

        return evaluate_pairs(pipeline, chosen, progress, **options.model_dump(exclude_none=True))

    def sample_loss(self, pipeline: "Translator", record: RunRecord, examples: int) -> "SampleLoss":
        """Return the loss on sentence pairs of validation: of all target tokens, or of masked ones (mask-predict)."""
        from regard.tasks.translate.evaluate import sample_pairs

        return sample_pairs(pipeline, record.data_settings(PairData), examples)

    def statistics(self, pipeline: "Translator", chosen: "EvalSet", outputs: Sequence[str]) -> "dict[str, Statistic]":
        """Return the corpus scores of hypotheses as functions of how often each sentence counts."""
        from regard.tasks.translate.evaluate import output_statistics

        return output_statistics(chosen, outputs)

    def set_hashes(self, chosen: "EvalSet") -> dict[str, Any]:
        """Return the hashes of the sources and of each list of references."""
        from regard.tasks.translate.evaluate import set_hashes

        return set_hashes(chosen)

    def score_lines(self, scores: Mapping[str, Values]) -> list[str]:
        """Return the signature of each metric, scores as papers compute them, and the decoding settings."""
        first = next(iter(scores.values()))
        lines = [f"{score['name']}: {score['signature']}" for score in first["scores"]]
        for score in first.get("paper_scores", ()):
            values = ", ".join(
                f"{name} {other['value']:.2f}"
                for name, metrics in scores.items()
                for other in metrics.get("paper_scores", ())
                if other["name"] == score["name"]
            )
            lines.append(f"for papers that compute it so, {score['name']}: {values} ({score['signature']})")
        return [*lines, f"decoding of all sentences: {decoding_words(first['decode'])}"]

    def describe(self, card: "CardInput") -> list[str]:
        """Return the section on the data."""
        from regard.tasks.translate.card import data_section

        return data_section(card)

    def shared_limit(self, members: Sequence[PairRunSettings[ModelSettings]]) -> dict[str, int]:
        """Return the longest sentence that every member of a race takes."""
        from regard.tasks.translate.prepare import common_length

        return common_length(members)


TASK = Translate()
