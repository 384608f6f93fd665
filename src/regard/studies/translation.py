"""The task `translate`: pairs in, a model that is ready to learn from them out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.checkpoint import Bundle
from regard.checkpoint.atomic import fingerprint
from regard.data.batches import EncodedPairs
from regard.data.cleaning import CleaningReport, carve_validation, clean, drop_held_out
from regard.data.feed import PairFeed
from regard.data.pairs import Pair
from regard.data.readers import read_pairs
from regard.data.sequences import Sequences, encode
from regard.data.settings import PairData, PairSource
from regard.errors import DataError
from regard.metrics import translation_scores
from regard.models import Vocabularies, build_model
from regard.objectives import TranslationObjective
from regard.pipelines.translator import Translator, translation_tokenizers
from regard.progress import SILENT, Progress
from regard.studies.doctor.preflight import preflight
from regard.studies.losses import mean_surprise
from regard.studies.material import Material, Read, Settings
from regard.studies.prepared import Prepared
from regard.text import DropoutEncoder, TextSettings, Tokenizer, train_tokenizer
from regard.training import Machine


def prepare_translation(
    settings: Settings, machine: Machine, progress: Progress = SILENT, resumed: Bundle | None = None
) -> Prepared:
    """Read and clean the pairs, train or take over the tokenizers, encode, and build the model."""
    material = gather(settings, progress, resumed)
    if settings.preflight and resumed is None and progress is not SILENT:  # nobody would hear it
        preflight(material, progress)
    return make_ready(material, machine)


def gather(settings: Settings, progress: Progress = SILENT, resumed: Bundle | None = None) -> Material:
    """Return the pairs, read, cleaned and encoded, and the model that is to learn from them."""
    read, train, valid, reports = _read(settings.data, progress)
    tokenizers = resumed.tokenizers if resumed else _tokenizers(train, settings.text, progress)
    bundle = resumed or _new_bundle(settings, tokenizers)
    limit = min(settings.data.cleaning.max_tokens, bundle.model.max_positions or settings.data.cleaning.max_tokens)
    train, encoded = _encode(train, tokenizers, limit, reports["train"], progress)
    _, watched = _encode(valid, tokenizers, limit, reports["valid"], SILENT)
    for role, report in reports.items():
        progress.say(f"{role}: {report.sentence()}")
    return Material(settings, read, train, valid, encoded, watched, bundle, reports, limit)


def make_ready(material: Material, machine: Machine) -> Prepared:
    """Return what the loop needs."""
    settings, bundle, encoded = material.settings, material.bundle, material.encoded
    has_dropout = settings.text.dropout > 0
    corpus = _with_dropout(material.train, encoded, settings, bundle.tokenizers) if has_dropout else lambda _: encoded
    micro_batch = settings.train.micro_batch_tokens or machine.micro_batch_tokens
    return Prepared(
        bundle=bundle,
        feed=PairFeed(corpus, settings.train.tokens_per_update, micro_batch, settings.seed),
        objective=TranslationObjective(settings.objective.label_smoothing),
        width=settings.model.width,
        validate=_validation(bundle, material.watched, material.valid, settings, machine),
        tests=material.read.tests or {"valid": material.valid},
        facts={name: _plain(report) for name, report in material.reports.items()}
        | {"files": file_hashes(settings.data)},
    )


def _read(data: PairData, progress: Progress) -> tuple[Read, list[Pair], list[Pair], dict[str, CleaningReport]]:
    """Return every set as it is, training and validation pairs, and reports on the cleaning of these two."""
    reports = {"train": CleaningReport(), "valid": CleaningReport()}
    read = Read(
        read_pairs(data.train, progress),
        read_pairs(data.valid, progress) if data.valid else None,
        {name: read_pairs(place, progress) for name, place in data.test.items()},
    )
    train = clean(read.train, data.cleaning, reports["train"])
    if data.cleaning.drop_held_out:
        train = drop_held_out(train, read.held_out, reports["train"])
    if not train:
        raise DataError(f"{data.train.name}: nothing is left of it after cleaning ({reports['train'].sentence()})")
    if data.valid is not None and read.valid is not None:
        valid = clean(read.valid, data.cleaning, reports["valid"])
        if not valid:
            raise DataError(f"{data.valid.name}: nothing is left of it after cleaning.")
    else:
        train, valid = carve_validation(train, data.valid_share)
        reports["train"].carved, reports["valid"].read = len(valid), len(valid)
    return read, train, valid, reports


def _tokenizers(pairs: Sequence[Pair], text: TextSettings, progress: Progress) -> dict[str, Tokenizer]:
    if text.tokenizer:
        return {"tokenizer": Tokenizer.load(Path(text.tokenizer))}
    sides = {"source": [pair.source for pair in pairs], "target": [pair.target for pair in pairs]}
    if text.vocabularies == "shared":
        return {"tokenizer": train_tokenizer(sides["source"] + sides["target"], text, progress)}
    return {side: train_tokenizer(lines, text, progress, f"{side} tokenizer") for side, lines in sides.items()}


def _new_bundle(settings: Settings, tokenizers: dict[str, Tokenizer]) -> Bundle:
    source, target = translation_tokenizers(tokenizers)
    vocabularies = Vocabularies(source.size, target.size, source is target)
    torch.manual_seed(settings.seed)
    model = build_model(settings.model, vocabularies)
    facts = {"decode": settings.decode.model_dump(mode="json"), "seed": settings.seed}
    return Bundle("translate", model, settings.model, vocabularies, tokenizers, facts)


def _encode(
    pairs: list[Pair],
    tokenizers: dict[str, Tokenizer],
    limit: int,
    report: CleaningReport,
    progress: Progress,
) -> tuple[list[Pair], EncodedPairs]:
    """Return the pairs that fit and their ids; those past the limit are counted as too long."""
    source, target = translation_tokenizers(tokenizers)
    sources = encode([pair.source for pair in pairs], source, progress, "encode source")
    targets = encode([pair.target for pair in pairs], target, progress, "encode target")
    fits = (sources.lengths <= limit) & (targets.lengths <= limit)
    if not fits.any():
        raise DataError(
            f"Every pair is longer than {limit} tokens; raise data.cleaning.max_tokens or split sentences."
        )
    encoded = EncodedPairs(sources, targets, source.padding, target.padding, target.start)
    if fits.all():
        return pairs, encoded
    report.dropped["too long"] += int((~fits).sum())
    rows = np.flatnonzero(fits)
    return [pairs[row] for row in rows], encoded.select(rows)


def _with_dropout(
    train: list[Pair], pairs: EncodedPairs, settings: Settings, tokenizers: dict[str, Tokenizer]
) -> Callable[[int], EncodedPairs]:
    """Return a function that encodes the corpus anew for each epoch; a text that outgrows the limit stays."""
    source, target = (DropoutEncoder(each, settings.text.dropout) for each in translation_tokenizers(tokenizers))
    limit = int(max(pairs.source.lengths.max(), pairs.target.lengths.max()))

    def side(texts: list[str], encoder: DropoutEncoder, plain: Sequences, seed: int) -> Sequences:
        drawn = encoder.encode_batch(texts, seed)
        end = encoder.tokenizer.end
        return Sequences.of(
            [*ids, end] if len(ids) < limit else plain.ids[plain.starts[row] : plain.starts[row + 1]].tolist()
            for row, ids in enumerate(drawn)
        )

    def corpus(epoch: int) -> EncodedPairs:
        seed = settings.seed * 1_000_003 + epoch
        sources = side([pair.source for pair in train], source, pairs.source, 2 * seed)
        targets = side([pair.target for pair in train], target, pairs.target, 2 * seed + 1)
        return EncodedPairs(sources, targets, pairs.source_padding, pairs.target_padding, pairs.start)

    return corpus


def _validation(
    bundle: Bundle, encoded: EncodedPairs, valid: list[Pair], settings: Settings, machine: Machine
) -> Callable[[Any], dict[str, float]]:
    """Return the function the loop validates with: loss, perplexity, and BLEU on a fixed sample."""
    count = min(settings.validation.bleu_sentences, len(valid))
    sample = [valid[place] for place in np.linspace(0, len(valid) - 1, count).astype(int)]

    def validate(model: Any) -> dict[str, float]:
        measured = mean_surprise(model, encoded, machine.device, machine.micro_batch_tokens)
        if sample:
            translations = Translator(bundle)([pair.source for pair in sample], beams=1)
            hypotheses = [translation.text for translation in translations]
            scores = translation_scores(hypotheses, [[pair.target] for pair in sample], ["BLEU"])
            measured["bleu"] = scores[0].value
        return measured

    return validate


def _plain(report: CleaningReport) -> dict[str, Any]:
    return {
        "read": report.read,
        "kept": report.kept,
        "dropped": dict(report.dropped),
        "carved": report.carved,
    }


def file_hashes(data: PairData) -> dict[str, str]:
    """Return the SHA-256 of every file the data comes from."""
    places: list[PairSource] = [data.train, *([data.valid] if data.valid else []), *data.test.values()]
    names = [name for place in places for name in (place.source, place.target, place.path) if name]
    return {name: fingerprint(Path(name))["sha256"] for name in names if Path(name).is_file()}
