"""Preparation of a translation run: pairs cleaned and encoded, the model built, and what the loop needs."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.bundle import Bundle
from regard.data.cleaning import CleaningReport, clean, drop_held_out, hold_out_pairs
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
from regard.models.base.protocols import is_conditional_masked
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import position_limit
from regard.objectives.loss import Objective
from regard.objectives.mask_predict import MaskedTranslationObjective
from regard.objectives.settings import MaskedTranslationObjectiveSettings
from regard.objectives.translation import TranslationObjective
from regard.progress import SILENT, Progress
from regard.tasks.baseline import token_baseline
from regard.tasks.data import EvalSet, Prepared, RawPairs, TranslationData, scorings, translation_tokenizers
from regard.tasks.declarations import Context
from regard.tasks.embedding_init import fill_embeddings, freeze_embeddings
from regard.tasks.init_from import check_tokenizers, load_pretrained, origin_facts
from regard.tasks.model_size import new_model
from regard.tasks.translate.losses import fixed_masks, mean_nll
from regard.tasks.translate.mask_predict import build_translator
from regard.tasks.translate.records import PairReport
from regard.tasks.translate.settings import PairRunSettings
from regard.text.bpe_dropout import DropoutCorpus, DropoutEncoder
from regard.text.settings import TextSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer
from regard.training.device.machine import Machine
from regard.training.parallel.division import map_texts

Settings = PairRunSettings[ModelSettings]

FOCUS_PAIRS = 16
"""Validation pairs whose cross-attention is measured."""
BEAM = 3.0
"""Time of all scores of a pair, beam search included, as a multiple of its translation in a validation."""
FEWEST_OUTPUTS = 5
"""Outputs below which the fraction of duplicates is not computed."""


def load_pairs(settings: Settings, context: Context) -> TranslationData:
    """Return the pairs, cleaned and encoded, by new tokenizers where no model has any."""
    progress, known = context.progress, context.known
    raw, train, valid, reports = _read(settings.data, progress)
    tokenizers = known.tokenizers if known else _tokenizers(train, settings.text, progress)
    source, target = translation_tokenizers(tokenizers)
    positions = position_limit(settings.model, Vocabularies(source.size, target.size, source is target))
    limit = min(settings.data.cleaning.max_tokens, positions or settings.data.cleaning.max_tokens)
    train, encoded = _encode(train, tokenizers, limit, reports["train"], progress)
    valid, valid_encoded = _encode(valid, tokenizers, limit, reports["valid"], SILENT)
    for role, report in reports.items():
        progress.info(f"{role}: {report.sentence()}")
    return TranslationData(settings, raw, train, valid, encoded, valid_encoded, tokenizers, reports, limit)


def common_length(members: Sequence[Settings]) -> dict[str, int]:
    """Return the maximum length, as a setting, with which all members of a race train on the same pairs."""
    limits = []
    for each in members:
        limit = each.data.cleaning.max_tokens
        any_size = Vocabularies(8, 8, each.text.vocabularies == "shared")
        limits += [limit, position_limit(each.model, any_size) or limit]
    return {"data.cleaning.max_tokens": min(limits)}


def build_bundle(settings: Settings, data: TranslationData, context: Context) -> Bundle:
    """Return the translator to train: resumed, pretrained or new."""
    check_tokenizers(data.roles, context, settings.init_from)
    bundle = context.resumed or _new_bundle(settings, data, context)
    freeze_embeddings(bundle.model, bundle.tokenizers, settings.vectors)
    return bundle


def prepare_pairs(
    settings: Settings, data: TranslationData, bundle: Bundle, machine: Machine
) -> Prepared[TranslationData]:
    """Return feed, objective, validation, test sets and report of encoded pairs."""
    encoded = data.encoded
    has_dropout = any(settings.text.dropouts)
    corpus = _with_dropout(data.train, encoded, settings, bundle.tokenizers) if has_dropout else lambda _: encoded
    examples: Callable[[int], Examples] = corpus
    objective: Objective
    if isinstance(settings.objective, MaskedTranslationObjectiveSettings):
        examples = lambda epoch: MaskedPairs(corpus(epoch), settings.seed, epoch)
        objective = MaskedTranslationObjective(**settings.objective.model_dump())
    else:
        objective = TranslationObjective(settings.objective.label_smoothing, settings.objective.r_drop)
    micro_batch = settings.train.micro_batch_tokens or machine.micro_batch_tokens
    report = PairReport.model_validate(
        {name: _counts(each) for name, each in data.reports.items()}
        | {"files": file_hashes(settings.data), "hash": encoded.fingerprint()}
        | origin_facts(bundle)
    )
    return Prepared(
        bundle=bundle,
        feed=PairFeed(examples, settings.train.tokens_per_update, micro_batch, settings.seed),
        objective=objective,
        width=settings.model.width,
        validate=_validation(bundle, data.valid_encoded, data.valid, settings, machine),
        tests=(tests := _test_sets(data)),
        report=report,
        data=data,
        baseline=token_baseline(data.valid_encoded.target.ids),
        scorings=scorings(sum(len(each.rows) for each in tests.values()), _sampled(settings, data.valid), BEAM),
    )


def _test_sets(data: TranslationData) -> dict[str, EvalSet]:
    """Return the test sets of a run, its validation set where it has none, each with all its references."""
    sources = data.settings.data.test
    tests = {
        name: EvalSet(name, pairs, read_references(sources[name], pairs)) for name, pairs in data.raw.tests.items()
    }
    return tests or {"valid": EvalSet("valid", data.valid, [[pair.target] for pair in data.valid])}


def validation_pairs(data: PairData, progress: Progress = SILENT) -> list[Pair]:
    """Return the validation pairs of a run, cleaned, and held out of the training pairs where none were given."""
    _, _, valid, _ = _read(data, progress)
    return valid


def _read(data: PairData, progress: Progress) -> tuple[RawPairs, list[Pair], list[Pair], dict[str, CleaningReport]]:
    """Return every set before cleaning, the cleaned training and validation pairs, and the reports on both."""
    reports = {"train": CleaningReport(), "valid": CleaningReport()}
    raw = RawPairs(
        read_pairs(data.train, progress),
        read_pairs(data.valid, progress) if data.valid else None,
        {name: read_pairs(source, progress) for name, source in data.test.items()},
    )
    train = clean(raw.train, data.cleaning, reports["train"])
    if data.cleaning.drop_held_out:
        train = drop_held_out(train, raw.held_out, reports["train"])
    if not train:
        reasons = reports["train"].sentence().removesuffix(".")
        raise DataError(f"{data.train.name}: nothing is left of it after cleaning ({reasons}); name another file.")
    if data.valid is not None and raw.valid is not None:
        valid = clean(raw.valid, data.cleaning, reports["valid"])
        if not valid:
            raise DataError(f"{data.valid.name}: nothing is left of it after cleaning.")
    else:
        try:
            train, valid = hold_out_pairs(train, data.valid_fraction)
        except DataError as error:
            reason, kept = str(error).removesuffix("."), reports["train"].sentence().removesuffix(".")
            raise DataError(f"{data.train.name}: {reason[:1].lower()}{reason[1:]} ({kept}).") from None
        reports["train"].held_out, reports["valid"].read = len(valid), len(valid)
    return raw, train, valid, reports


def _tokenizers(pairs: Sequence[Pair], text: TextSettings, progress: Progress) -> dict[str, Tokenizer]:
    if text.tokenizer:
        return {"tokenizer": Tokenizer.load(Path(text.tokenizer))}
    sides = {"source": [pair.source for pair in pairs], "target": [pair.target for pair in pairs]}
    if text.vocabularies == "shared":
        return {"tokenizer": train_tokenizer(sides["source"] + sides["target"], text, progress)}
    return {side: train_tokenizer(lines, text, progress, f"{side} tokenizer") for side, lines in sides.items()}


def _new_bundle(settings: Settings, data: TranslationData, context: Context) -> Bundle:
    """Return a new model with its tokenizers, or the pretrained one; a model too large to train is refused."""
    pretrained = context.pretrained
    vocabularies = pretrained.vocabularies if pretrained else data.vocabularies
    model = new_model(settings, vocabularies, context.machine)
    facts = {"decode": settings.decode.model_dump(mode="json"), "seed": settings.seed}
    facts |= fill_embeddings(model, data.roles, settings.vectors, context.progress)
    if pretrained:
        facts |= load_pretrained(model, pretrained, settings.init_from)
    return Bundle(settings.task, model, settings.model, vocabularies, data.roles, facts)


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
        sampled = Sequences(*corpus.encode(seed))
        if sampled.lengths.max() <= limit:
            return sampled
        rows = np.arange(len(sampled)) + np.where(sampled.lengths <= limit, 0, len(sampled))
        return sampled.followed_by(plain).select(rows)

    def corpus(epoch: int) -> EncodedPairs:
        seed = 2 * (settings.seed * 1_000_003 + epoch)
        source, target = side(corpora[0], pairs.source, seed), side(corpora[1], pairs.target, seed + 1)
        return replace(pairs, source=source, target=target)

    return corpus


def _validation(
    bundle: Bundle, encoded: EncodedPairs, valid: list[Pair], settings: Settings, machine: Machine
) -> Callable[[Any], dict[str, float]]:
    """Return the function the loop validates with: loss, perplexity, attention focus, and BLEU on a fixed sample."""
    count = _sampled(settings, valid)
    sample = [valid[row] for row in np.linspace(0, len(valid) - 1, count).astype(int)]
    max_length = max(settings.decode.max_source_length, int(encoded.source.lengths.max()))
    is_masked = is_conditional_masked(bundle.model)
    greedily: dict[str, Any] = {} if is_masked else {"method": "beam", "beam_size": 1}
    examples: Examples = fixed_masks(encoded) if is_masked else encoded
    focus_batch = examples.batch(np.arange(min(FOCUS_PAIRS, len(encoded)))).to(machine.device)

    def validate(model: Any) -> dict[str, float]:
        metrics = mean_nll(model, encoded, machine.device, machine.micro_batch_tokens)
        focus = attention_focus(model, focus_batch)
        if focus is not None:
            metrics["attention_focus"] = focus
        if sample and math.isfinite(metrics["loss"]):  # other weights have no probabilities to search by
            sources = [pair.source for pair in sample]
            translator = build_translator(bundle)
            translate = lambda some: [
                each.text for each in translator(some, max_source_length=max_length, **greedily)
            ]
            hypotheses = map_texts(sources, translate)
            references = [pair.target for pair in sample]
            metrics["bleu"] = translation_scores(hypotheses, [[text] for text in references], ["BLEU"])[0].value
            metrics["duplicate_outputs"] = duplicate_fraction(hypotheses, references)
        return metrics

    return validate


def _sampled(settings: Settings, valid: list[Pair]) -> int:
    """Return the number of pairs that each validation translates."""
    return min(settings.validation.bleu_sentences, len(valid))


def duplicate_fraction(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Return the fraction of outputs equal to the most frequent one, among sentences with distinct references."""
    outputs = dict(zip(references, hypotheses, strict=True)).values()
    if len(outputs) < FEWEST_OUTPUTS:
        return 0.0
    return Counter(outputs).most_common(1)[0][1] / len(outputs)


def _counts(report: CleaningReport) -> dict[str, Any]:
    return {
        "read": report.read,
        "kept": report.kept,
        "dropped": dict(report.dropped),
        "held_out": report.held_out,
    }


def file_hashes(data: PairData) -> dict[str, str]:
    """Return the SHA-256 of every file the data comes from."""
    sources: list[PairSource] = [data.train, *([data.valid] if data.valid else []), *data.test.values()]
    names = [name for each in sources for name in (each.source, each.target, each.path, *each.references) if name]
    return {name: fingerprint(Path(name))["sha256"] for name in names if Path(name).is_file()}
