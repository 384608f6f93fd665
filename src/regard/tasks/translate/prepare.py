"""The task `translate`: pairs in, a model that is ready to learn from them out."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.bundle import Bundle
from regard.data.cleaning import CleaningReport, carve_validation, clean, drop_held_out
from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences, encode
from regard.data.feeds.feed import Examples, PairFeed
from regard.data.feeds.mask_predict import MaskedPairs
from regard.data.settings.pairs import PairData, PairSource
from regard.data.sources.pair import Pair
from regard.data.sources.pairs import read_pairs, read_references
from regard.errors import DataError
from regard.inspection.attention_focus import attention_focus
from regard.metrics.translation import translation_scores
from regard.models.base.protocols import Vocabularies, is_conditional_masked
from regard.models.families import build_model, count_parameters
from regard.objectives.loss import Objective
from regard.objectives.mask_predict import MaskedTranslationObjective, MaskedTranslationObjectiveSettings
from regard.objectives.translation import TranslationObjective
from regard.progress import SILENT, Progress
from regard.runs.preflight import preflight
from regard.tasks.data import Prepared
from regard.tasks.embedding_init import fill_tables, freeze_tables
from regard.tasks.init_from import load_pretrained, start_facts, start_of
from regard.tasks.model_size import check_size
from regard.tasks.translate.data import Read, Settings, TranslationData
from regard.tasks.translate.losses import fixed_masks, mean_nll
from regard.tasks.translate.mask_predict import build_translator
from regard.tasks.translate.pipeline import translation_tokenizers
from regard.text.bpe_dropout import DropoutCorpus, DropoutEncoder
from regard.text.settings import TextSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer
from regard.training.device.machine import Machine

LOOKED_AT = 16
"""Validation pairs whose cross-attention is measured."""
FEWEST_OUTPUTS = 5
"""Outputs it takes to speak of most of them."""


def prepare_translation(
    settings: Settings,
    machine: Machine,
    progress: Progress = SILENT,
    resumed: Bundle | None = None,
    given: Sequence[Pair] | None = None,
) -> Prepared:
    """Read (or take the given) pairs, clean them, train or take over tokenizers, encode, and build the model."""
    material = load_data(settings, machine, progress, resumed, given)
    if settings.preflight and resumed is None and progress is not SILENT:  # nobody would hear it
        preflight(material, progress)
    return prepare_pairs(material, machine)


def load_data(
    settings: Settings,
    machine: Machine,
    progress: Progress = SILENT,
    resumed: Bundle | None = None,
    given: Sequence[Pair] | None = None,
) -> TranslationData:
    """Return the pairs, read (or given), cleaned and encoded, and the model that is to learn from them."""
    read, train, valid, reports = _read(settings.data, progress, given)
    start = start_of(settings, resumed)
    known = resumed or start
    tokenizers = known.tokenizers if known else _tokenizers(train, settings.text, progress)
    bundle = resumed or new_bundle(settings, tokenizers, machine, progress, start)
    freeze_tables(bundle.model, bundle.tokenizers, settings.vectors)
    limit = min(settings.data.cleaning.max_tokens, bundle.model.max_positions or settings.data.cleaning.max_tokens)
    train, encoded = _encode(train, tokenizers, limit, reports["train"], progress)
    valid, watched = _encode(valid, tokenizers, limit, reports["valid"], SILENT)
    for role, report in reports.items():
        progress.say(f"{role}: {report.sentence()}")
    return TranslationData(settings, read, train, valid, encoded, watched, bundle, reports, limit)


def prepare_pairs(material: TranslationData, machine: Machine) -> Prepared:
    """Return what the loop needs."""
    settings, bundle, encoded = material.settings, material.bundle, material.encoded
    has_dropout = any(settings.text.dropouts)
    corpus = _with_dropout(material.train, encoded, settings, bundle.tokenizers) if has_dropout else lambda _: encoded
    examples: Callable[[int], Examples] = corpus
    objective: Objective = TranslationObjective(settings.objective.label_smoothing, settings.objective.r_drop)
    if isinstance(settings.objective, MaskedTranslationObjectiveSettings):
        examples = lambda epoch: MaskedPairs(corpus(epoch), settings.seed, epoch)
        objective = MaskedTranslationObjective(**settings.objective.model_dump())
    micro_batch = settings.train.micro_batch_tokens or machine.micro_batch_tokens
    return Prepared(
        bundle=bundle,
        feed=PairFeed(examples, settings.train.tokens_per_update, micro_batch, settings.seed),
        objective=objective,
        width=settings.model.width,
        validate=_validation(bundle, material.watched, material.valid, settings, machine),
        tests=material.read.tests or {"valid": material.valid},
        facts={name: _plain(report) for name, report in material.reports.items()}
        | {"files": file_hashes(settings.data), "hash": encoded.fingerprint()}
        | start_facts(bundle),
        references={
            name: read_references(place, material.read.tests[name]) for name, place in settings.data.test.items()
        },
    )


def validation_pairs(data: PairData, progress: Progress = SILENT) -> list[Pair]:
    """Return the validation pairs of a run, cleaned, and carved out where none were given."""
    _, _, valid, _ = _read(data, progress)
    return valid


def _read(
    data: PairData, progress: Progress, given: Sequence[Pair] | None = None
) -> tuple[Read, list[Pair], list[Pair], dict[str, CleaningReport]]:
    """Return every set as it is, training and validation pairs, and reports on the cleaning of these two."""
    reports = {"train": CleaningReport(), "valid": CleaningReport()}
    read = Read(
        read_pairs(data.train, progress) if given is None else list(given),
        read_pairs(data.valid, progress) if data.valid else None,
        {name: read_pairs(place, progress) for name, place in data.test.items()},
    )
    train = clean(read.train, data.cleaning, reports["train"])
    if data.cleaning.drop_held_out:
        train = drop_held_out(train, read.held_out, reports["train"])
    if not train:
        reasons = reports["train"].sentence().removesuffix(".")
        raise DataError(f"{data.train.name}: nothing is left of it after cleaning ({reasons}); name another file.")
    if data.valid is not None and read.valid is not None:
        valid = clean(read.valid, data.cleaning, reports["valid"])
        if not valid:
            raise DataError(f"{data.valid.name}: nothing is left of it after cleaning.")
    else:
        try:
            train, valid = carve_validation(train, data.valid_fraction)
        except DataError as error:
            reason, kept = str(error).removesuffix("."), reports["train"].sentence().removesuffix(".")
            raise DataError(f"{data.train.name}: {reason[:1].lower()}{reason[1:]} ({kept}).") from None
        reports["train"].carved, reports["valid"].read = len(valid), len(valid)
    return read, train, valid, reports


def _tokenizers(pairs: Sequence[Pair], text: TextSettings, progress: Progress) -> dict[str, Tokenizer]:
    if text.tokenizer:
        return {"tokenizer": Tokenizer.load(Path(text.tokenizer))}
    sides = {"source": [pair.source for pair in pairs], "target": [pair.target for pair in pairs]}
    if text.vocabularies == "shared":
        return {"tokenizer": train_tokenizer(sides["source"] + sides["target"], text, progress)}
    return {side: train_tokenizer(lines, text, progress, f"{side} tokenizer") for side, lines in sides.items()}


def new_bundle(
    settings: Settings,
    tokenizers: dict[str, Tokenizer],
    machine: Machine,
    progress: Progress = SILENT,
    start: Bundle | None = None,
) -> Bundle:
    """Return a fresh model with its tokenizers, or the one to go on with; one too large to train is refused."""
    source, target = translation_tokenizers(tokenizers)
    vocabularies = start.vocabularies if start else Vocabularies(source.size, target.size, source is target)
    check_size(count_parameters(settings.model, vocabularies), machine)
    torch.manual_seed(settings.seed)
    model = build_model(settings.model, vocabularies)
    facts = {"decode": settings.decode.model_dump(mode="json"), "seed": settings.seed}
    facts |= fill_tables(model, tokenizers, settings.vectors, progress)
    if start:
        facts |= load_pretrained(model, start, settings)
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
            f"Every pair is longer than {limit} tokens; raise data.cleaning.max_tokens (or model.max_positions, "
            f"where positions are learned) or split sentences."
        )
    encoded = EncodedPairs(sources, targets, source.pad_id, target.pad_id, target.bos_id)
    if fits.all():
        return pairs, encoded
    report.dropped["too long"] += int((~fits).sum())
    rows = np.flatnonzero(fits)
    return [pairs[row] for row in rows], encoded.select(rows)


def _with_dropout(
    train: list[Pair], pairs: EncodedPairs, settings: Settings, tokenizers: dict[str, Tokenizer]
) -> Callable[[int], EncodedPairs]:
    """Return a function that encodes the corpus anew for each epoch; a text that outgrows the limit stays."""
    sides = zip(translation_tokenizers(tokenizers), settings.text.dropouts, strict=True)
    encoders = (DropoutEncoder(*side) for side in sides)
    texts = [pair.source for pair in train], [pair.target for pair in train]
    corpora = [DropoutCorpus(*each) for each in zip(texts, encoders, strict=True)]
    limit = int(max(pairs.source.lengths.max(), pairs.target.lengths.max()))

    def side(corpus: DropoutCorpus, plain: Sequences, seed: int) -> Sequences:
        drawn = Sequences(*corpus.encode(seed))
        if drawn.lengths.max() <= limit:
            return drawn
        rows = np.arange(len(drawn)) + np.where(drawn.lengths <= limit, 0, len(drawn))
        return drawn.followed_by(plain).select(rows)

    def corpus(epoch: int) -> EncodedPairs:
        seed = 2 * (settings.seed * 1_000_003 + epoch)
        source, target = side(corpora[0], pairs.source, seed), side(corpora[1], pairs.target, seed + 1)
        return replace(pairs, source=source, target=target)

    return corpus


def _validation(
    bundle: Bundle, encoded: EncodedPairs, valid: list[Pair], settings: Settings, machine: Machine
) -> Callable[[Any], dict[str, float]]:
    """Return the function the loop validates with: loss, perplexity, signs of life, and BLEU on a fixed sample."""
    count = min(settings.validation.bleu_sentences, len(valid))
    sample = [valid[place] for place in np.linspace(0, len(valid) - 1, count).astype(int)]
    longest = max(settings.decode.max_source_length, int(encoded.source.lengths.max()))
    is_masked = is_conditional_masked(bundle.model)
    greedily: dict[str, Any] = {} if is_masked else {"method": "beam", "beam_size": 1}
    seen: Examples = fixed_masks(encoded) if is_masked else encoded
    looked_at = seen.batch(np.arange(min(LOOKED_AT, len(encoded)))).to(machine.device)

    def validate(model: Any) -> dict[str, float]:
        measured = mean_nll(model, encoded, machine.device, machine.micro_batch_tokens)
        focus = attention_focus(model, looked_at)
        if focus is not None:
            measured["attention_focus"] = focus
        if sample:
            sources = [pair.source for pair in sample]
            translations = build_translator(bundle)(sources, max_source_length=longest, **greedily)
            hypotheses = [translation.text for translation in translations]
            references = [pair.target for pair in sample]
            measured["bleu"] = translation_scores(hypotheses, [[text] for text in references], ["BLEU"])[0].value
            measured["duplicate_outputs"] = share_of_commonest(hypotheses, references)
        return measured

    return validate


def share_of_commonest(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Return the share of outputs that are one and the same, among sentences whose references all differ."""
    outputs = dict(zip(references, hypotheses, strict=True)).values()
    if len(outputs) < FEWEST_OUTPUTS:
        return 0.0
    return Counter(outputs).most_common(1)[0][1] / len(outputs)


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
    names = [name for place in places for name in (place.source, place.target, place.path, *place.references) if name]
    return {name: fingerprint(Path(name))["sha256"] for name in names if Path(name).is_file()}
