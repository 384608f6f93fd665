"""Evaluation of a translator: corpus scores with their signatures, loss, and speed."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import encode
from regard.data.settings.pairs import PairData, PairSource
from regard.data.sources.lines import lines_hash
from regard.data.sources.pair import Pair
from regard.data.sources.pairs import read_pairs, read_references
from regard.errors import DataError
from regard.metrics.bootstrap import Statistic
from regard.metrics.translation import paper_scores, scores_and_statistics
from regard.progress import SILENT, Progress
from regard.tasks.data import EvalSet, SampleLoss, spread
from regard.tasks.evaluation import Evaluation
from regard.tasks.translate.losses import mean_nll
from regard.tasks.translate.options import AnyTranslateOptions
from regard.tasks.translate.pipeline import Translator
from regard.tasks.translate.prepare import validation_pairs
from regard.training.device.machine import MICRO_BATCH_TOKENS
from regard.training.parallel.division import map_texts


def pair_set(name: str, pairs: Sequence[Pair]) -> EvalSet:
    """Return pairs as a set to score on, the target of each its one reference."""
    return EvalSet(name, pairs, [[pair.target] for pair in pairs])


def read_pair_set(name: str, source: PairSource, progress: Progress = SILENT) -> EvalSet:
    """Read one set with all its references."""
    pairs = read_pairs(source, progress)
    return EvalSet(name, pairs, read_references(source, pairs))


def own_sets(data: PairData, progress: Progress = SILENT) -> dict[str, EvalSet]:
    """Return the test sets of a run, its validation set where it has none."""
    if data.test:
        return {name: read_pair_set(name, source, progress) for name, source in data.test.items()}
    return {"valid": pair_set("valid", validation_pairs(data, progress))}


def set_hashes(chosen: EvalSet) -> dict[str, Any]:
    """Return the hashes that identify a set: one of the sources, and one for each list of references."""
    most = max(map(len, chosen.references))
    streams = [
        [choices[number] if number < len(choices) else "" for choices in chosen.references] for number in range(most)
    ]
    sources = lines_hash(pair.source for pair in chosen.rows)
    return {"sources": sources, "references": [lines_hash(stream) for stream in streams]}


def output_statistics(chosen: EvalSet, lines: Sequence[str]) -> dict[str, Statistic]:
    """Return the corpus scores of hypotheses for a set as functions of how often each sentence counts."""
    if len(lines) != len(chosen.rows):
        raise DataError(
            f"{len(lines):,} lines, but {chosen.name} has {len(chosen.rows):,} sentences; give one hypothesis a line."
        )
    return scores_and_statistics(lines, chosen.references)[1]


def evaluate_pairs(
    translator: Translator, chosen: EvalSet, progress: Progress = SILENT, papers: bool = False, **decoding: Any
) -> Evaluation:
    """Translate the sources and compare with the references; nothing is left out, however long or empty.

    The loss is that of the first reference alone. Pairs past the model's maximum length are counted as `too_long`:
    their translation counts as empty, and they are not in the loss.
    """
    name, pairs = chosen.name, chosen.rows
    if not pairs:
        raise DataError(f"{name}: there are no sentence pairs to score; give at least one.")
    encoded = encode_pairs(translator, pairs)
    options = translator.options(**decoding)
    bound = min(translator.bound or options.max_source_length, options.max_source_length)
    is_readable = encoded.source.lengths <= bound
    fits = is_readable & (encoded.target.lengths <= bound)
    if not fits.all():
        limit_name = "this model takes" if bound == translator.bound else "of decode.max_source_length"
        progress.warn(f"{name}: {(~fits).sum():,} pairs are longer than the {bound:,} tokens {limit_name}.")
    started = time.perf_counter()
    sources = [pair.source if can else "" for pair, can in zip(pairs, is_readable, strict=True)]
    translate = lambda some: [each.text for each in translator(some, progress=progress, options=options)]
    translations = map_texts(sources, translate)
    elapsed = time.perf_counter() - started
    # A hypothesis is one line, so that what is scored is what a file of hypotheses can hold.
    hypotheses = tuple(" ".join(each.splitlines()) for each in translations)
    limit = MICRO_BATCH_TOKENS[translator.device.type]
    losses = mean_nll(translator.model, encoded.select(np.flatnonzero(fits)), translator.device, limit)
    scores, statistics = scores_and_statistics(hypotheses, chosen.references)
    metrics = {
        "sentences": len(pairs),
        **{score.key: score.value for score in scores},
        "loss": losses["loss"],
        "perplexity": losses["perplexity"],
        "sentences_per_second": round(len(pairs) / elapsed, 2),
        "too_long": int((~fits).sum()),
    }
    details = {"paper_scores": [asdict(score) for score in paper_scores(hypotheses, chosen.references)]}
    return Evaluation(
        name,
        metrics,
        tuple(scores),
        hypotheses,
        statistics,
        hashes=set_hashes(chosen),
        details=details if papers else {},
        decode=decoding_of(options),
        decode_defaults=decoding_of(translator.options()),
    )


def sample_pairs(translator: Translator, data: PairData, examples: int) -> SampleLoss:
    """Return the loss on so many validation pairs of a run, spread over them; those that do not fit are left out."""
    pairs = validation_pairs(data)
    encoded = encode_pairs(translator, [pairs[row] for row in spread(len(pairs), examples)])
    bound = translator.bound or max(encoded.source.lengths.max(), encoded.target.lengths.max())
    chosen = encoded.select(np.flatnonzero((encoded.source.lengths <= bound) & (encoded.target.lengths <= bound)))
    limit = MICRO_BATCH_TOKENS[translator.device.type]
    return SampleLoss(lambda: mean_nll(translator.model, chosen, translator.device, limit)["loss"], len(chosen))


def decoding_of(options: AnyTranslateOptions) -> dict[str, Any]:
    """Return the decoding settings among the options of a call."""
    return options.model_dump(mode="json", exclude={"prefix", "n_best", "paragraphs"})


def encode_pairs(translator: Translator, pairs: Sequence[Pair]) -> EncodedPairs:
    """Return pairs as ids of a translator's tokenizers."""
    source, target = translator.source_tokenizer, translator.target_tokenizer
    return EncodedPairs(
        encode([pair.source for pair in pairs], source),
        encode([pair.target for pair in pairs], target),
        source.pad_id,
        target.pad_id,
        target.bos_id,
    )
