"""How good a translator is: corpus scores with their signatures, loss, and speed."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import encode
from regard.data.settings.pairs import PairData, PairSource
from regard.data.sources.lines import lines_hash
from regard.data.sources.pair import Pair
from regard.data.sources.pairs import read_pairs, read_references
from regard.errors import ConfigError, DataError, RunError
from regard.metrics.translation import Score, paper_scores, translation_scores
from regard.progress import SILENT, Progress
from regard.runs.store.folder import Run
from regard.tasks.load import load_translator
from regard.tasks.translate.losses import mean_nll
from regard.tasks.translate.pipeline import Translator
from regard.tasks.translate.prepare import validation_pairs
from regard.training.device.machine import MICRO_BATCH_TOKENS


@dataclass(frozen=True)
class EvalSet:
    """Pairs to be scored on, each with all its references."""

    name: str
    pairs: list[Pair]
    references: list[list[str]]

    def hashes(self) -> dict[str, Any]:
        """Return what tells this set from any other: a hash of the sources, and one for each list of references."""
        most = max(map(len, self.references))
        streams = [
            [choices[number] if number < len(choices) else "" for choices in self.references]
            for number in range(most)
        ]
        sources = lines_hash(pair.source for pair in self.pairs)
        return {"sources": sources, "references": [lines_hash(stream) for stream in streams]}


@dataclass(frozen=True)
class Evaluation:
    """The figures of one model on one set."""

    name: str
    sentences: int
    scores: tuple[Score, ...]
    paper_scores: tuple[Score, ...]
    """BLEU as papers often count it, for comparison with them alone."""
    loss: float
    perplexity: float
    sentences_per_second: float
    too_long: int
    """Pairs past the model's longest sequence: their translation counts as empty, and they are not in the loss."""
    decode: dict[str, Any]
    test_set: dict[str, Any]
    """Hashes of the sources and of the references."""
    hypotheses: tuple[str, ...] = field(repr=False)

    def figures(self) -> dict[str, Any]:
        """Return everything but the hypotheses as plain values."""
        return {name: value for name, value in asdict(self).items() if name != "hypotheses"}


def evaluate(
    translator: Translator,
    texts: Sequence[tuple[str, str]],
    name: str = "test",
    progress: Progress = SILENT,
    references: Sequence[Sequence[str]] | None = None,
    **decoding: Any,
) -> Evaluation:
    """Translate the sources and compare with the targets; nothing is left out, however long or empty.

    `references` holds all references of each pair (unset: its target); the loss is that of the target alone.
    """
    if not texts:
        raise DataError(f"{name}: there are no sentence pairs to score; give at least one.")
    pairs = [Pair(*pair) for pair in texts]
    held_out = EvalSet(name, pairs, [list(choices) for choices in references or ([pair.target] for pair in pairs)])
    encoded = encode_pairs(translator, pairs)
    settings = translator.decoding(**decoding)
    bound = min(translator.bound or settings.max_source_length, settings.max_source_length)
    can_read = encoded.source.lengths <= bound
    fits = can_read & (encoded.target.lengths <= bound)
    if not fits.all():
        reason = "this model takes" if bound == translator.bound else "of decode.max_source_length"
        progress.warn(f"{name}: {(~fits).sum():,} pairs are longer than the {bound:,} tokens {reason}.")
    started = time.perf_counter()
    sources = [pair.source if can else "" for pair, can in zip(pairs, can_read, strict=True)]
    answers = translator(sources, progress=progress, **decoding)
    elapsed = time.perf_counter() - started
    # A hypothesis is one line, so that what is scored is what a file of hypotheses can hold.
    hypotheses = tuple(" ".join(answer.text.splitlines()) for answer in answers)
    limit = MICRO_BATCH_TOKENS[translator.device.type]
    losses = mean_nll(translator.model, encoded.select(np.flatnonzero(fits)), translator.device, limit)
    return Evaluation(
        name,
        len(pairs),
        tuple(translation_scores(hypotheses, held_out.references)),
        tuple(paper_scores(hypotheses, held_out.references)),
        losses["loss"],
        losses["perplexity"],
        round(len(pairs) / elapsed, 2),
        int((~fits).sum()),
        settings.model_dump(mode="json"),
        held_out.hashes(),
        hypotheses,
    )


def evaluate_run(
    path: str,
    place: PairSource | None = None,
    device: str = "auto",
    progress: Progress = SILENT,
    **decoding: Any,
) -> list[Evaluation]:
    """Evaluate a run or checkpoint on other data, or on the run's own test sets (without any: its validation set)."""
    translator = load_translator(path, device)
    return [
        evaluate(translator, each.pairs, each.name, progress, each.references, **decoding)
        for each in held_out_sets(path, place, progress)
    ]


def held_out_sets(
    path: str, place: PairSource | None = None, progress: Progress = SILENT, only: str | None = None
) -> list[EvalSet]:
    """Read the set at `place`, or a run's own test sets, of which `only` picks one."""
    if place is not None:
        if only is not None:
            raise ConfigError(
                f"--test-set {only} picks one of the run's own test sets; leave it out, or the other data."
            )
        return [read_held_out(place.name, place, progress)]
    sets = _own_sets(Run(Path(path)), progress)
    if only is not None and only not in [each.name for each in sets]:
        raise ConfigError(f'{path}: "{only}" is not one of its test sets ({", ".join(each.name for each in sets)}).')
    return [each for each in sets if only in (None, each.name)]


def read_held_out(name: str, place: PairSource, progress: Progress = SILENT) -> EvalSet:
    """Read one set with all its references."""
    pairs = read_pairs(place, progress)
    return EvalSet(name, pairs, read_references(place, pairs))


def _own_sets(run: Run, progress: Progress) -> list[EvalSet]:
    if not run.exists:
        raise RunError(f"{run.path}: a checkpoint alone has no test sets; give --data, or --source and --target.")
    data = run.data_settings(PairData)
    if data.test:
        return [read_held_out(name, place, progress) for name, place in data.test.items()]
    pairs = validation_pairs(data, progress)
    return [EvalSet("valid", pairs, [[pair.target] for pair in pairs])]


def encode_pairs(translator: Translator, pairs: Sequence[Pair]) -> EncodedPairs:
    """Return pairs as a translator's tokenizers write them."""
    source, target = translator.source_tokenizer, translator.target_tokenizer
    return EncodedPairs(
        encode([pair.source for pair in pairs], source),
        encode([pair.target for pair in pairs], target),
        source.pad_id,
        target.pad_id,
        target.bos_id,
    )
