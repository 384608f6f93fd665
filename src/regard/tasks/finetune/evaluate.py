"""Evaluation of a fine-tuned model: metrics with intervals, confident errors, and paired comparisons."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from regard.checkpoint.bundle import Bundle
from regard.errors import DataError
from regard.metrics.bootstrap import Statistic, bootstrap
from regard.metrics.significance import Difference, paired
from regard.progress import SILENT, Progress
from regard.tasks.data import EvalSet
from regard.tasks.evaluation import Evaluation
from regard.tasks.finetune.data import AnyHeadTask
from regard.tasks.finetune.pipeline import HeadPipeline
from regard.tasks.finetune.predictions import Predictions

ERRORS = 10
"""Number of errors kept of each set."""


def evaluate_examples(
    task: AnyHeadTask, pipeline: HeadPipeline[Any, Any, Any], chosen: EvalSet, progress: Progress = SILENT
) -> Evaluation:
    """Return the metrics of a pipeline on a set."""
    bundle, facts = pipeline.bundle, task.read_facts(pipeline.bundle)
    examples = chosen.rows
    task.check_rows(chosen.name, examples, facts)
    encoded = chosen.encoded if chosen.encoded is not None else task.encode(examples, bundle)
    predictions = task.predict(
        bundle, pipeline.model, examples, encoded, pipeline.device, pipeline.batch_tokens, progress
    )
    metrics = all_metrics(task, chosen, predictions, facts)
    if pipeline.mix is not None:
        metrics["mix"] = pipeline.mix
    decode = task.decoding(facts)
    return Evaluation(chosen.name, metrics, tuple(predictions.lines), decode, decode)


def all_metrics(task: AnyHeadTask, chosen: EvalSet, predictions: Predictions, facts: Any) -> dict[str, Any]:
    """Return all metrics of a set as plain values, each score with its interval by bootstrap."""
    examples = chosen.rows
    metrics = task.compute_metrics(examples, predictions, facts)
    statistics = task.statistics(examples, predictions.lines, facts)
    signature = f"{len(examples):,} {task.unit}s"
    return {
        "examples": len(examples),
        "loss": predictions.loss,
        **metrics,
        "intervals": {name: list(bootstrap(each, len(examples))) for name, each in statistics.items()},
        "errors": [asdict(each) for each in task.errors(examples, predictions, ERRORS)],
        "test_set": task.set_hashes(chosen),
        "scores": [
            {
                "name": score.label,
                "value": 100 * metrics[score.metric],
                "signature": f"{signature}|{score.rule}" if score.rule else signature,
            }
            for score in task.score_names
        ],
    }


def compare_predictions(
    task: AnyHeadTask, bundle: Bundle, chosen: EvalSet, outputs: Sequence[Sequence[str]]
) -> tuple[Difference, ...]:
    """Return a paired bootstrap test for each main score of two lists of predictions."""
    facts, examples = task.read_facts(bundle), chosen.rows
    first, second = outputs
    if len(first) != len(second):
        raise DataError(f"{chosen.name}: {len(first):,} and {len(second):,} predictions cannot be paired.")
    try:
        one, other = (task.statistics(examples, lines, facts) for lines in (first, second))
    except (KeyError, ValueError, IndexError) as error:
        raise DataError(
            f"{chosen.name}: its predictions are not those of the task ({error}); evaluate it again."
        ) from None
    unit = f"{len(examples):,} {task.unit}s"
    return tuple(
        paired(
            score.label,
            f"{unit}|{score.rule}" if score.rule else unit,
            _percent(one[score.metric]),
            _percent(other[score.metric]),
            len(examples),
        )
        for score in task.score_names
        if score.metric in one
    )


def _percent(statistic: Statistic) -> Statistic:
    return lambda counts: 100 * statistic(counts)
