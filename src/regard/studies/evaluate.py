"""How good a translator is: corpus scores with their signatures, loss, and speed."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.batches import EncodedPairs
from regard.data.pairs import Pair
from regard.data.readers import read_pairs
from regard.data.sequences import encode
from regard.data.settings import PairData, PairSource
from regard.errors import RunError
from regard.metrics import Score, translation_scores
from regard.pipelines import Translator, load
from regard.progress import SILENT, Progress
from regard.studies.losses import mean_surprise
from regard.studies.run import Run
from regard.training import MICRO_BATCH_TOKENS


@dataclass(frozen=True)
class Evaluation:
    """The figures of one model on one set."""

    name: str
    sentences: int
    scores: tuple[Score, ...]
    loss: float
    perplexity: float
    sentences_per_second: float
    decode: dict[str, Any]


def evaluate(
    translator: Translator,
    pairs: Sequence[Pair],
    name: str = "test",
    progress: Progress = SILENT,
    **decoding: Any,
) -> Evaluation:
    """Translate the sources and compare with the targets; nothing is left out, however long or empty."""
    started = time.perf_counter()
    answers = translator([pair.source for pair in pairs], progress=progress, **decoding)
    elapsed = time.perf_counter() - started
    hypotheses = [answer.text for answer in answers]
    scores = translation_scores(hypotheses, [[pair.target] for pair in pairs])
    losses = _losses(translator, pairs)
    return Evaluation(
        name,
        len(pairs),
        tuple(scores),
        losses["loss"],
        losses["perplexity"],
        round(len(pairs) / elapsed, 2),
        translator.decoding(**decoding).model_dump(mode="json"),
    )


def evaluate_run(
    path: str,
    place: PairSource | None = None,
    device: str = "auto",
    progress: Progress = SILENT,
    **decoding: Any,
) -> list[Evaluation]:
    """Evaluate a run or checkpoint on other data, or on the run's own test sets (without any: its validation set)."""
    translator = load(path, device)
    if place is not None:
        return [evaluate(translator, read_pairs(place, progress), place.name, progress, **decoding)]
    sets = _own_sets(Run(Path(path)))
    return [
        evaluate(translator, read_pairs(place, progress), name, progress, **decoding) for name, place in sets.items()
    ]


def _own_sets(run: Run) -> dict[str, PairSource]:
    if not run.exists:
        raise RunError(f"{run.path}: a checkpoint alone has no test sets; give --data, or --source and --target.")
    data = PairData.model_validate_json(json.dumps(run.record["settings"]["data"]))
    sets = data.test or ({"valid": data.valid} if data.valid else {})
    if not sets:
        raise RunError(f"{run.path}: this run names no test sets; give --data, or --source and --target.")
    return sets


def _losses(translator: Translator, pairs: Sequence[Pair]) -> dict[str, float]:
    source, target = translator.source_tokenizer, translator.target_tokenizer
    encoded = EncodedPairs(
        encode([pair.source for pair in pairs], source),
        encode([pair.target for pair in pairs], target),
        source.padding,
        target.padding,
        target.start,
    )
    return mean_surprise(translator.model, encoded, translator.device, MICRO_BATCH_TOKENS[translator.device.type])
