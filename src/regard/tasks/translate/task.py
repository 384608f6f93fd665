"""The task `translate`: sentence pairs in, a translator out."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from regard.checkpoint.facts import TaskFiles
from regard.data.settings.pairs import PairData, PairSource
from regard.decoding.settings import DecodeSettings
from regard.errors import ConfigError, DataError
from regard.models.base.settings import ModelSettings
from regard.pipelines.inputs import SingleText, TextRow
from regard.progress import SILENT, Progress
from regard.tasks.contract import Task
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
from regard.tasks.evaluation import Evaluation, decoding_words
from regard.tasks.record import RunRecord
from regard.tasks.translate.records import PairReport, TranslateFacts, TranslationPassport, TranslationScores
from regard.tasks.translate.results import PairScore, Translation
from regard.tasks.translate.schema import translate_settings
from regard.tasks.translate.settings import PairRunSettings

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.metrics.significance import Difference
    from regard.tasks.card import CardInput
    from regard.tasks.data import EvalSet, Prepared, TranslationData
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
    row_fields = ("source", "target")
    report, scores, passport = PairReport, TranslationScores, TranslationPassport
    metrics = (
        Metric("bleu", "BLEU", ".2f", is_validated=True, is_raced=True),
        Metric("chrf", "chrF", ".2f"),
        Metric("ter", "TER", ".2f", "min"),
        Metric("loss", "loss", ".3f", "min", is_raced=True),
        Metric("perplexity", "perplexity", ".2f", "min"),
        Metric("sentences_per_second", "sentences/s", ".0f"),
    )
    counted = ("sentences", "sentences")
    loss_curve = LossCurve("target token")
    operations = (
        Operation(
            "translate",
            "Translate text.",
            SingleText,
            ("text",),
            DecodeSettings,
            Translation,
            example='"your text"',
            call='translator("your text").text',
            variable="translator",
        ),
        Operation(
            "score",
            "Score given translations.",
            TextRow,
            ("text", "second"),
            DecodeSettings,
            PairScore,
            method="score",
            arguments="--source FILE --target FILE",
        ),
    )
    evaluation = TranslateEvaluation
    init_from = InitFrom(dict.fromkeys(("seq2seq", "conditional-masked-lm"), CONTINUED_RATE), takes_word_vectors=True)
    loads = frozenset({"ensemble"})

    def settings(self, model: type[ModelSettings]) -> type[PairRunSettings[ModelSettings]]:
        """Return the schema of a run: beam search or mask-predict, by the model's family."""
        return translate_settings(model)

    def defaults(self) -> dict[str, Any]:
        """Return the settings of the plain command."""
        return {"model": {"preset": "transformer-small"}, "train": {"patience": 8}}

    def prepare(self, settings: PairRunSettings[ModelSettings], context: Context) -> "Prepared[TranslationData]":
        """Return the pairs cleaned and encoded, and the model."""
        from regard.tasks.translate.prepare import prepare_translation

        return prepare_translation(settings, context)

    def prepare_from(
        self, settings: PairRunSettings[ModelSettings], data: "TranslationData", context: Context
    ) -> "Prepared[TranslationData]":
        """Prepare a run on pairs that are cleaned and encoded already."""
        from dataclasses import replace

        from regard.tasks.translate.prepare import new_bundle, prepare_pairs

        bundle = context.resumed or new_bundle(settings, data.bundle.tokenizers, context.machine)
        return prepare_pairs(replace(data, settings=settings, bundle=bundle), context.machine)

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
        self.pipeline(bundle, LoadOptions()).decoding()

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

    def memory_set(self, name: str, rows: list[Any]) -> "EvalSet":
        """Return (source, target) pairs from memory as a set to score on."""
        from regard.tasks.translate.evaluate import pair_set

        return pair_set(name, rows)

    def evaluate(
        self, pipeline: "Translator", chosen: "EvalSet", options: EvaluateOptions, progress: Progress = SILENT
    ) -> Evaluation:
        """Return BLEU, chrF, TER, loss and speed on a set."""
        from regard.tasks.translate.evaluate import evaluate_pairs

        return evaluate_pairs(pipeline, chosen, progress, **options.model_dump(exclude_none=True))

    def set_hashes(self, chosen: "EvalSet") -> dict[str, Any]:
        """Return the hashes of the sources and of each list of references."""
        from regard.tasks.translate.evaluate import set_hashes

        return set_hashes(chosen)

    def differences(
        self,
        pipeline: "Translator",
        chosen: "EvalSet",
        outputs: Sequence[Sequence[str]],
        progress: Progress = SILENT,
    ) -> "tuple[Difference, ...]":
        """Return paired bootstrap tests of the corpus metrics of two lists of hypotheses."""
        from regard.metrics.bootstrap import RESAMPLES, SEED
        from regard.metrics.significance import paired_bootstrap
        from regard.metrics.translation import translation_scores

        names = [score.name for score in translation_scores(list(outputs[0]), chosen.references)]
        first, second = outputs
        return tuple(paired_bootstrap(first, second, chosen.references, names, RESAMPLES, SEED, progress))

    def evaluate_outputs(self, chosen: "EvalSet", lines: Sequence[str], origin: str) -> Evaluation:
        """Return the corpus scores of hypotheses that another program wrote."""
        from regard.metrics.translation import translation_scores

        if len(lines) != len(chosen.rows):
            raise DataError(
                f"{origin} has {len(lines):,} lines but {chosen.name} has {len(chosen.rows):,} sentences; give one "
                f"hypothesis a line."
            )
        scores = [asdict(score) for score in translation_scores(list(lines), chosen.references)]
        return Evaluation(chosen.name, {"scores": scores, "test_set": self.set_hashes(chosen)}, tuple(lines))

    def score_lines(self, scores: Mapping[str, Mapping[str, Any]]) -> list[str]:
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
            lines.append(f"for papers only, {score['name']}: {values} ({score['signature']})")
        return [*lines, f"decoding: {decoding_words(first['decode'])}"]

    def describe(self, card: "CardInput") -> list[list[str]]:
        """Return the sections on scores and data."""
        from regard.tasks.translate.card import data_section, scores_section

        return [scores_section(card), data_section(card)]

    def plan(self, prepared: "Prepared[TranslationData]") -> dict[str, Any]:
        """Return how many pairs were kept and dropped."""
        report = prepared.report
        assert isinstance(report, PairReport)
        return {
            "train_pairs": report.train.kept,
            "valid_pairs": report.valid.kept,
            "dropped": report.train.dropped,
        }

    def shared_limit(self, members: Sequence[PairRunSettings[ModelSettings]]) -> dict[str, int]:
        """Return the longest sentence that every member of a race takes."""
        from regard.tasks.translate.limits import common_length

        return common_length(members)


TASK = Translate()
