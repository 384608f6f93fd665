"""The task `language-model`: running text in, a model that continues text out."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from regard.checkpoint.facts import TaskFiles
from regard.data.settings.text import LanguageData, LanguageSource
from regard.errors import ConfigError
from regard.models.base.settings import ModelSettings
from regard.pipelines.inputs import SingleText
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
from regard.tasks.language_model.options import PromptRow, TextOptions, TextScoreOptions
from regard.tasks.language_model.records import LanguageFacts
from regard.tasks.language_model.results import Completion, TextScore
from regard.tasks.language_model.settings import LanguageSettings
from regard.tasks.planning import rules, shapes
from regard.tasks.planning.inputs import Default, PlanInput
from regard.tasks.record import RunRecord
from regard.tasks.text.settings import CONTINUED_RATE
from regard.tasks.text.task import TextTask

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.metrics.bootstrap import Statistic
    from regard.tasks.data import EvalSet, Prepared, SampleLoss, TextTaskData
    from regard.tasks.language_model.chats import ChatData
    from regard.tasks.language_model.pipeline import Generator


class LanguageEvaluation(EvaluateOptions):
    """Options of scoring a language model."""

    stride: int | None = Field(None, ge=1)
    """Tokens between two windows (default: half a window)."""


class LanguageModel(TextTask[LanguageSettings[ModelSettings], "TextTaskData | ChatData", "Generator"]):
    """Causal language modeling, by a GPT or a recurrent network."""

    name = "language-model"
    wording = Wording(
        "a language model",
        "language models",
        "--text FILE or --text FOLDER, or --data FILE of prompts and completions",
        shorten="a shorter window (window)",
    )
    files = TaskFiles(LanguageFacts, ("causal-lm",))
    source, data = LanguageSource, LanguageData
    metrics = (
        Metric("word_perplexity", "word perplexity", ".2f", "min", is_raced=True),
        Metric("bits_per_byte", "bits/byte", ".4f", "min", is_raced=True),
        Metric("perplexity", "perplexity", ".2f", "min", is_validated=True, is_raced=True),
        Metric("loss", "loss", ".4f", "min", is_raced=True),
    )
    counted = ("tokens", "tokens")
    score_note = (
        "The loss is in nats per token, without label smoothing. Bits per byte and word perplexity do not depend on "
        "the tokenizer; token perplexities can be compared between models with the same tokenizer only."
    )
    loss_curve = LossCurve("token")
    operations = (
        Operation(
            "generate",
            "Continue text.",
            PromptRow,
            ("prompt",),
            TextOptions,
            Completion,
            streams=True,
            takes_blank=True,
            details="Defaults are the run's settings under generate.",
            protocols=("openai:completions", "huggingface:text-generation"),
            example='"Once upon a time"',
            call='generator("Once upon a time").text',
            variable="generator",
        ),
        Operation("score", "Score text.", SingleText, ("text",), TextScoreOptions, TextScore, method="score"),
    )
    evaluation = LanguageEvaluation
    init_from = InitFrom({"causal-lm": CONTINUED_RATE}, takes_word_vectors=True)
    loads = frozenset({"quantize"})

    def settings(self, model: type[ModelSettings]) -> type[LanguageSettings[ModelSettings]]:
        """Return the schema of a run."""
        return LanguageSettings[model]  # type: ignore[valid-type]

    preset = "gpt-tiny"

    def shape(self, plan: PlanInput) -> Iterable[Default]:
        """Return a larger shape for a GPU."""
        return shapes.decoder_shape(plan)

    def vocabulary_defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned size of the vocabulary."""
        return rules.vocabulary(plan)

    def defaults(self, plan: PlanInput) -> Iterable[Default]:
        """Return the planned settings of a language model's training."""
        yield from rules.training(plan, patience=4)
        yield from rules.adamw(0.1, (0.9, 0.99), "language models")
        yield from rules.dropout(plan, ("dropout", "embedding_dropout", "attention_dropout"))

    def load_data(self, settings: LanguageSettings[ModelSettings], context: Context) -> "TextTaskData | ChatData":
        """Return the text or the conversations tokenized."""
        if settings.data.train.path is not None:
            from regard.tasks.language_model.chats import load_chats

            return load_chats(settings, context)
        from regard.tasks.text.corpora import load_text

        return load_text(settings, context)

    def build(
        self, settings: LanguageSettings[ModelSettings], data: "TextTaskData | ChatData", context: Context
    ) -> "Bundle":
        """Return the language model to train."""
        from regard.tasks.language_model.prepare import build_bundle

        return build_bundle(settings, data.tokenizer, context)

    def prepare(
        self,
        settings: LanguageSettings[ModelSettings],
        data: "TextTaskData | ChatData",
        bundle: "Bundle",
        context: Context,
    ) -> "Prepared[TextTaskData | ChatData]":
        """Return feed, objective, validation, test sets and report."""
        from regard.tasks.language_model.chats import ChatData, prepare_chats
        from regard.tasks.language_model.prepare import prepare_text

        if isinstance(data, ChatData):
            return prepare_chats(settings, data, bundle, context.machine)
        return prepare_text(settings, data, bundle, context.machine)

    def file_source(self, path: str, lines: Sequence[str] = ()) -> dict[str, object]:
        """Return a table of prompts or conversations by its path, and running text by its paths."""
        from regard.data.sources.chats import is_chat_table

        return {"path": path} if is_chat_table(path, lines) else {"paths": [path]}

    def checks(self) -> Sequence[Check]:
        """Return the checks of running text, and those of conversations."""
        from regard.tasks.language_model.chat_checks import language_checks

        return language_checks()

    def pipeline(self, bundle: "Bundle", options: LoadOptions) -> "Generator":
        """Return a generator."""
        from regard.tasks.language_model.pipeline import Generator

        return Generator(bundle, options.quantize)

    def quantization_cost(self, pipeline: "Generator", record: RunRecord | None, progress: Progress) -> str:
        """Return what int8 weights cost in perplexity."""
        from regard.tasks.language_model.int8_cost import measure_quantization_cost

        return str(measure_quantization_cost(record, pipeline, progress))

    def check_bundle(self, bundle: "Bundle") -> None:
        """Refuse a model whose generation defaults are invalid."""
        self.pipeline(bundle, LoadOptions()).options()

    def eval_sets(
        self,
        pipeline: "Generator",
        source: LanguageSource | None,
        record: RunRecord | None,
        folder: Path,
        progress: Progress,
    ) -> "dict[str, EvalSet]":
        """Return the text at a source, or the test sets of a run."""
        data = record.data_settings(LanguageData).train if source is None and record is not None else source
        if getattr(data, "path", None) is not None:
            from regard.tasks.language_model.chats import chat_sets

            return chat_sets(pipeline, source, record)
        return super().eval_sets(pipeline, source, record, folder, progress)

    def evaluate(
        self, pipeline: "Generator", chosen: "EvalSet", options: EvaluateOptions, progress: Progress = SILENT
    ) -> Evaluation:
        """Return loss, perplexities and bits per byte on a text."""
        if (stride := getattr(options, "stride", None)) is None and hasattr(chosen.rows, "chats"):
            from regard.tasks.language_model.chat_scores import evaluate_chats

            return evaluate_chats(pipeline, chosen)
        if hasattr(chosen.rows, "chats"):
            raise ConfigError(
                f"stride {stride}: this is for running text, and {chosen.name} has answers; leave it out."
            )
        from regard.tasks.language_model.evaluate import evaluate_text

        return evaluate_text(pipeline, chosen, options.stride if isinstance(options, LanguageEvaluation) else None)

    def sample_loss(self, pipeline: "Generator", record: RunRecord, examples: int) -> "SampleLoss":
        """Return the loss on windows of the validation text, or on the answers of conversations."""
        if record.data_settings(LanguageData).train.path is not None:
            from regard.tasks.language_model.chat_scores import sample_chats
            from regard.tasks.language_model.chats import gather_chats

            return sample_chats(pipeline, gather_chats(record.data_settings(LanguageData)).valid, examples)
        from regard.tasks.language_model.evaluate import sample_windows

        return sample_windows(pipeline, record, examples)

    def statistics(self, pipeline: "Generator", chosen: "EvalSet", outputs: Sequence[str]) -> "dict[str, Statistic]":
        """Return the metrics of a text as functions of how often each of its documents or blocks counts."""
        from regard.tasks.language_model.evaluate import text_statistics
        from regard.tasks.text.nll import TextUnits

        if hasattr(chosen.rows, "chats"):
            from regard.tasks.language_model.chat_scores import answer_units

            return text_statistics(answer_units(chosen.rows), outputs)
        return text_statistics(TextUnits.of(chosen.rows), outputs)

    def for_model(self, pipeline: "Generator", chosen: "EvalSet", folder: Path, progress: Progress) -> "EvalSet":
        """Return a text in the tokens of another model."""
        if hasattr(chosen.rows, "chats"):
            from regard.tasks.language_model.chat_scores import encoded_for

            return encoded_for(pipeline, chosen.name, chosen.rows.chats)
        return super().for_model(pipeline, chosen, folder, progress)

    def score_lines(self, scores: Mapping[str, Values]) -> list[str]:
        """Return the windows that the text was evaluated in."""
        first = next(iter(scores.values()))["decode"]
        if "stride" not in first:
            return [f"the answers' tokens, in windows of {first['window']:,} tokens"]
        return [f"evaluated in windows of {first['window']:,} tokens, stride {first['stride']:,}"]

    def sequences(self, record: RunRecord) -> str:
        """Return a sentence on the windows of text, or on conversations."""
        report = record.report
        if report.dropped_rows is None:
            return f"Training windows of {report.window:,} tokens."
        dropped = ", ".join(f"{count:,} {reason}" for reason, count in report.dropped_rows["train"].items() if count)
        return (
            f"Conversations of at most {report.window:,} tokens; counts are those of answers, which alone have a "
            f"loss; dropped from the training set: {dropped or 'none'}."
        )

    def shared_limit(self, members: Sequence[LanguageSettings[ModelSettings]]) -> dict[str, int]:
        """Return the window that every member of a race takes."""
        from regard.tasks.language_model.prepare import common_window

        return common_window(members)


TASK = LanguageModel()
