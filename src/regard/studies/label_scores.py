"""How well labels and choices are told: figures, a table by label, and the mistakes the model is surest of."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.data.choices import Choice
from regard.data.examples import EncodedExamples
from regard.data.label_settings import ChoiceSource, ExampleData, LabelSource, TableSource
from regard.errors import DataError, RunError
from regard.metrics import label_scores
from regard.pipelines import load
from regard.pipelines.labelling import Probabilities, answer_probabilities, surprise
from regard.progress import SILENT, Progress
from regard.studies.label_data import (
    Example,
    ExampleReport,
    check_examples,
    clean_examples,
    encode,
    gather_examples,
    read_examples,
)
from regard.studies.prepared import Prepared
from regard.studies.run import Run

MISTAKES = 10
"""Mistakes that are kept of each set."""


@dataclass(frozen=True)
class ScoredSet:
    """Examples, and what a model reads of them."""

    examples: Sequence[Example]
    encoded: EncodedExamples


def figures_of(
    model: Any,
    facts: Mapping[str, Any],
    scored: ScoredSet,
    name: str,
    device: torch.device,
    limit: int,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Return all figures of a set as plain values."""
    truth = scored.encoded.labels
    found = answer_probabilities(model, scored.encoded, device, limit, progress)
    said = np.array([int(each.argmax()) for each in found])
    accuracy = float((said == truth).mean())
    figures: dict[str, Any] = {
        "name": name,
        "examples": len(truth),
        "loss": surprise(found, truth),
        "accuracy": accuracy,
        "chance": _chance(facts, scored, found),
    }
    if "labels" in facts:
        scores = label_scores(truth.tolist(), said.tolist(), facts["labels"])
        figures |= {
            "macro_f1": scores.macro_f1,
            "classes": [asdict(each) for each in scores.classes],
            "confusion": [list(row) for row in scores.confusion],
        }
    return figures | {
        "mistakes": _mistakes(facts, scored, found, said),
        "test_set": scored.encoded.fingerprint(),
        "scores": [{"name": "accuracy %", "value": 100 * accuracy, "signature": f"{len(truth):,} examples"}],
    }


def _chance(facts: Mapping[str, Any], scored: ScoredSet, found: Sequence[Probabilities]) -> float:
    """Return what knowing nothing gets right: always saying the commonest label, or any of the choices."""
    if "labels" not in facts:
        return float(np.mean([1 / len(each) for each in found]))
    return Counter(scored.encoded.labels.tolist()).most_common(1)[0][1] / len(found)


def _mistakes(
    facts: Mapping[str, Any], scored: ScoredSet, found: Sequence[Probabilities], said: Any
) -> list[dict[str, Any]]:
    """Return the mistakes, the surest first."""
    wrong = np.flatnonzero(said != scored.encoded.labels)
    surest = sorted(wrong.tolist(), key=lambda row: -found[row][said[row]])[:MISTAKES]
    mistakes = []
    for row in surest:
        example, probability = scored.examples[row], float(found[row][said[row]])
        if isinstance(example, Choice):
            texts, right, chosen = [example.context], example.choices[example.label], example.choices[said[row]]
        else:
            texts, right, chosen = list(example.texts), example.label, facts["labels"][said[row]]
        mistakes.append({"texts": texts, "label": right, "said": chosen, "probability": probability})
    return mistakes


def score_labels(run: Run, pipeline: Any, prepared: Prepared, progress: Progress = SILENT) -> dict[str, Any]:
    """Score a run that has just ended on its test sets, and return the figures by set."""
    return {
        name: figures_of(
            pipeline.model, pipeline.bundle.facts, scored, name, pipeline.device, pipeline.tokens_at_once, progress
        )
        for name, scored in prepared.tests.items()
    }


def measure_labels(
    path: str | Path, place: TableSource | None = None, *, device: str = "auto", progress: Progress = SILENT
) -> dict[str, dict[str, Any]]:
    """Evaluate a classifier's or chooser's run or checkpoint on other examples, or on its own test sets, by name."""
    pipeline: Any = load(path, device)
    facts = pipeline.bundle.facts
    if place is not None:
        examples = clean_examples(read_examples(place, progress), ExampleReport())
        if not examples:
            raise DataError(f"{place.name}: no example has both a text and a label.")
        sets = {place.name: examples}
    else:
        run = Run(Path(path))
        if not run.exists:
            raise RunError(f"{path}: a checkpoint alone has no test sets; give --data FILE.")
        source = ChoiceSource if pipeline.bundle.task == "choose" else LabelSource
        data = ExampleData[source].model_validate_json(json.dumps(run.record["settings"]["data"]))  # type: ignore[valid-type]
        found = gather_examples(data, progress, facts.get("labels"))
        sets = found.tests or {"valid": found.valid}
    for name, examples in sets.items():
        check_examples(name, examples, int(facts.get("texts", 1)), facts.get("labels", ()))
    return {
        name: figures_of(
            pipeline.model,
            facts,
            ScoredSet(examples, encode(examples, pipeline.bundle)),
            name,
            pipeline.device,
            pipeline.tokens_at_once,
            progress,
        )
        for name, examples in sets.items()
    }
