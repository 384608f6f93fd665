"""Evaluation of a fine-tuned model: metrics, their statistics for the bootstrap, and confident errors."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from regard.checkpoint.bundle import Bundle
from regard.data.settings.examples import ExampleData
from regard.errors import DataError
from regard.metrics.bootstrap import Statistic
from regard.metrics.comparison import Score
from regard.progress import SILENT, Progress
from regard.tasks.data import EvalSet, SampleLoss, spread
from regard.tasks.evaluation import Evaluation
from regard.tasks.finetune.data import AnyHeadTask, gather_examples
from regard.tasks.finetune.pipeline import HeadPipeline
from regard.tasks.finetune.predictions import Predictions
from regard.tasks.record import RunRecord

AnyHeadPipeline: TypeAlias = HeadPipeline[Any, Any, Any]

ERRORS = 10
"""Number of errors kept of each set."""


def evaluate_examples(
    task: AnyHeadTask, pipeline: AnyHeadPipeline, chosen: EvalSet, progress: Progress = SILENT
) -> Evaluation:
    """Return the metrics of a pipeline on a set."""
    bundle, facts = pipeline.bundle, task.read_facts(pipeline.bundle)
    examples = chosen.rows
    task.check_rows(chosen.name, examples, facts)
    encoded = chosen.encoded if chosen.encoded is not None else task.encode(examples, bundle)
    predictions = task.predict(
        bundle, pipeline.model, examples, encoded, pipeline.device, pipeline.batch_tokens, progress
    )
    mix = {} if pipeline.mix is None else {"mix": pipeline.mix}
    return evaluated_predictions(task, chosen, predictions, facts, mix)


def sample_examples(task: AnyHeadTask, pipeline: AnyHeadPipeline, record: RunRecord, examples: int) -> SampleLoss:
    """Return the loss on so many validation examples of a run, spread over them."""
    bundle = pipeline.bundle
    data = record.data_settings(ExampleData[task.source])  # type: ignore[name-defined]
    valid = gather_examples(task, data, SILENT, task.read_facts(bundle).known_labels).valid
    rows = [valid[row] for row in spread(len(valid), examples)]
    encoded = task.encode(rows, bundle)
    predict = lambda: task.predict(bundle, pipeline.model, rows, encoded, pipeline.device, pipeline.batch_tokens)
    return SampleLoss(lambda: predict().loss, len(rows))


def evaluated_predictions(
    task: AnyHeadTask, chosen: EvalSet, predictions: Predictions, facts: Any, details: Mapping[str, Any] | None = None
) -> Evaluation:
    """Return the evaluation of predictions for a set."""
    examples = chosen.rows
    values = task.compute_metrics(examples, predictions, facts)
    metrics = {key: value for key, value in values.items() if not isinstance(value, list | dict)}
    unit, decode = f"{len(examples):,} {task.unit}s", task.decoding(facts)
    return Evaluation(
        chosen.name,
        {"examples": len(examples), "loss": predictions.loss, **metrics},
        tuple(
            Score(each.label, 100 * metrics[each.metric], f"{unit}|{each.rule}" if each.rule else unit, each.metric)
            for each in task.score_names
            if each.metric in metrics
        ),
        tuple(predictions.lines),
        task.statistics_of(examples, predictions.lines, facts),
        hashes=task.set_hashes(chosen),
        details={key: value for key, value in values.items() if key not in metrics}
        | {"errors": [asdict(each) for each in task.errors(examples, predictions, ERRORS)]}
        | dict(details or {}),
        decode=decode,
        decode_defaults=decode,
    )


def output_statistics(
    task: AnyHeadTask, bundle: Bundle, chosen: EvalSet, lines: Sequence[str]
) -> dict[str, Statistic]:
    """Return the metrics of predicted lines as functions of how often each example counts."""
    if len(lines) != len(chosen.rows):
        raise DataError(
            f"{len(lines):,} lines, but {chosen.name} has {len(chosen.rows):,} {task.unit}s; give one prediction a "
            f"line."
        )
    try:
        return task.statistics_of(chosen.rows, lines, task.read_facts(bundle))
    except (KeyError, ValueError, IndexError) as error:
        raise DataError(
            f"the lines are not predictions of {task.wording.noun} for {chosen.name} ({error}); evaluate it again."
        ) from None
