"""How good a translator is: corpus scores with their signatures, loss, and speed."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regard.data.batches import EncodedPairs
from regard.data.pairs import Pair
from regard.data.readers import read_pairs
from regard.data.sequences import encode
from regard.data.settings import PairData, PairSource
from regard.errors import DataError, RunError
from regard.metrics import Score, translation_scores
from regard.pipelines import Translator, load
from regard.progress import SILENT, Progress
from regard.studies.losses import mean_surprise
from regard.studies.run import Run
from regard.studies.translation import test_pairs
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
    too_long: int
    """Pairs past the model's longest sequence: their translation counts as empty, and they are not in the loss."""
    decode: dict[str, Any]


def evaluate(
    translator: Translator,
    texts: Sequence[tuple[str, str]],
    name: str = "test",
    progress: Progress = SILENT,
    **decoding: Any,
) -> Evaluation:
    """Translate the sources and compare with the targets; nothing is left out, however long or empty."""
    if not texts:
        raise DataError(f"{name}: there are no sentence pairs to score; give at least one.")
    pairs = [Pair(*pair) for pair in texts]
    encoded = _encode(translator, pairs)
    bound = translator.model.max_positions or max(encoded.source.lengths.max(), encoded.target.lengths.max())
    can_read = encoded.source.lengths <= bound
    fits = can_read & (encoded.target.lengths <= bound)
    if not fits.all():
        progress.warn(f"{name}: {(~fits).sum():,} pairs are longer than the {bound:,} tokens this model takes.")
    started = time.perf_counter()
    sources = [pair.source if can else "" for pair, can in zip(pairs, can_read, strict=True)]
    hypotheses = [answer.text for answer in translator(sources, progress=progress, **decoding)]
    elapsed = time.perf_counter() - started
    scores = translation_scores(hypotheses, [[pair.target] for pair in pairs])
    limit = MICRO_BATCH_TOKENS[translator.device.type]
    losses = mean_surprise(translator.model, encoded.select(np.flatnonzero(fits)), translator.device, limit)
    return Evaluation(
        name,
        len(pairs),
        tuple(scores),
        losses["loss"],
        losses["perplexity"],
        round(len(pairs) / elapsed, 2),
        int((~fits).sum()),
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
    sets = _own_sets(Run(Path(path)), progress)
    return [evaluate(translator, pairs, name, progress, **decoding) for name, pairs in sets.items()]


def _own_sets(run: Run, progress: Progress) -> dict[str, list[Pair]]:
    if not run.exists:
        raise RunError(f"{run.path}: a checkpoint alone has no test sets; give --data, or --source and --target.")
    return test_pairs(PairData.model_validate_json(json.dumps(run.record["settings"]["data"])), progress)


def _encode(translator: Translator, pairs: Sequence[Pair]) -> EncodedPairs:
    source, target = translator.source_tokenizer, translator.target_tokenizer
    return EncodedPairs(
        encode([pair.source for pair in pairs], source),
        encode([pair.target for pair in pairs], target),
        source.padding,
        target.padding,
        target.start,
    )
