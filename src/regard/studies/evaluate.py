"""How good a translator is: corpus scores with their signatures, loss, and speed."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from regard.data.batches import EncodedPairs
from regard.data.lines import lines_hash
from regard.data.pairs import Pair
from regard.data.readers import read_pairs, read_references
from regard.data.sequences import encode
from regard.data.settings import PairData, PairSource
from regard.errors import ConfigError, RunError
from regard.metrics import Score, paper_scores, translation_scores
from regard.pipelines import Translator, load
from regard.progress import SILENT, Progress
from regard.studies.losses import mean_surprise
from regard.studies.run import Run
from regard.training import MICRO_BATCH_TOKENS


@dataclass(frozen=True)
class HeldOut:
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
    decode: dict[str, Any]
    test_set: dict[str, Any]
    """Hashes of the sources and of the references."""
    hypotheses: tuple[str, ...] = field(repr=False)

    def figures(self) -> dict[str, Any]:
        """Return everything but the hypotheses as plain values."""
        return {name: value for name, value in asdict(self).items() if name != "hypotheses"}


def evaluate(
    translator: Translator,
    pairs: Sequence[Pair],
    name: str = "test",
    progress: Progress = SILENT,
    references: Sequence[Sequence[str]] | None = None,
    **decoding: Any,
) -> Evaluation:
    """Translate the sources and compare with the targets; nothing is left out, however long or empty.

    `references` holds all references of each pair (unset: its target); the loss is that of the target alone.
    """
    held_out = HeldOut(name, list(pairs), [list(choices) for choices in references or ([p.target] for p in pairs)])
    started = time.perf_counter()
    answers = translator([pair.source for pair in pairs], progress=progress, **decoding)
    elapsed = time.perf_counter() - started
    # A hypothesis is one line, so that what is scored is what a file of hypotheses can hold.
    hypotheses = tuple(" ".join(answer.text.splitlines()) for answer in answers)
    losses = _losses(translator, pairs)
    return Evaluation(
        name,
        len(pairs),
        tuple(translation_scores(hypotheses, held_out.references)),
        tuple(paper_scores(hypotheses, held_out.references)),
        losses["loss"],
        losses["perplexity"],
        round(len(pairs) / elapsed, 2),
        translator.decoding(**decoding).model_dump(mode="json"),
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
    translator = load(path, device)
    return [
        evaluate(translator, each.pairs, each.name, progress, each.references, **decoding)
        for each in held_out_sets(path, place, progress)
    ]


def held_out_sets(
    path: str, place: PairSource | None = None, progress: Progress = SILENT, only: str | None = None
) -> list[HeldOut]:
    """Read the set at `place`, or a run's own test sets, of which `only` picks one."""
    if place is not None:
        return [read_held_out(place.name, place, progress)]
    sets = _own_sets(Run(Path(path)))
    if only is not None and only not in sets:
        raise ConfigError(f'{path}: "{only}" is not one of its test sets ({", ".join(sets)}).')
    return [read_held_out(name, each, progress) for name, each in sets.items() if only in (None, name)]


def read_held_out(name: str, place: PairSource, progress: Progress = SILENT) -> HeldOut:
    """Read one set with all its references."""
    pairs = read_pairs(place, progress)
    return HeldOut(name, pairs, read_references(place, pairs))


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
