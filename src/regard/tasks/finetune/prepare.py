"""The tasks that fine-tune: examples in, a model that is ready to learn from them out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle
from regard.data.encoding.templates import FRAME_TOKENS
from regard.data.feeds.feed import PairFeed
from regard.data.sources.pair import Pair
from regard.errors import ConfigError
from regard.models.base.protocols import Vocabularies
from regard.models.families import build_model, count_parameters, family, is_bidirectional
from regard.models.heads import OF_WHOLE_TEXTS, HeadSettings, load_matching_weights
from regard.objectives.head import HeadObjective
from regard.progress import SILENT, Progress
from regard.tasks.data import Prepared
from regard.tasks.finetune.base import EncodedRows, HeadTask
from regard.tasks.finetune.data import (
    ExampleSets,
    check_sets,
    example_files,
    gather_examples,
    say_counts,
    say_cuts,
    say_oddities,
)
from regard.tasks.finetune.evaluate import ScoredSet
from regard.tasks.finetune.extra_vectors import ExtraVectors, find_beside
from regard.tasks.finetune.shapes import SHAPES
from regard.tasks.finetune.word_body import begin_words
from regard.tasks.init_from import body_weights, read_start, start_facts, start_hash
from regard.tasks.model_size import check_size
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer
from regard.training.device.machine import Machine

SHORTEST = 8
"""Tokens of a sequence at least."""
USUAL_LENGTH, USUAL_LETTERS = 512, 4096
"""Tokens of a sequence at most, for a model that has no bound; letters, for one that reads those."""
READER_WIDTH = 64
"""Width in each direction of the LSTM over an ELMo or word vectors, where nothing is said."""
LANGUAGE_WEIGHT = 0.5
"""Of the next token beside the label, for a language model that is told nothing else (Radford et al., 2018, §4.1)."""
POOL = 4
"""Updates' worth of examples that are sorted by length together: few, because lengths may tell labels apart, and an
update should hold a mixture of them. Where there is no padding, none are."""


def prepare_labels(
    settings: Any,
    machine: Machine,
    progress: Progress = SILENT,
    resumed: Bundle | None = None,
    given: Sequence[Pair] | None = None,
) -> Prepared:
    """Read the examples, take over or train a tokenizer, and put a head on the model to begin with or a new one."""
    if given is not None:
        raise ConfigError(
            f"Sentence pairs are for the task translate; {settings.task} learns from a file (data.train)."
        )
    shape = SHAPES[settings.task]
    sets = gather_examples(shape, settings.data, progress, resumed.facts.get("labels") if resumed else None)
    bundle = resumed or new_label_bundle(shape, settings, sets, machine, progress)
    check_sets(shape, sets, bundle.facts)
    encoded = {name: shape.encode(examples, bundle, progress) for name, examples in sets.sets.items()}
    for name, each in encoded.items():
        sets.reports[name].cut = int(each.is_truncated.sum())
    say_counts(shape, sets, progress)
    if settings.preflight and resumed is None:
        say_oddities(shape, sets, progress)
        say_cuts(shape, sets, int(bundle.facts["max_length"]), progress)
    watched = ScoredSet(sets.valid, encoded["valid"])
    tests = {name: ScoredSet(it, encoded[f"test {name}"]) for name, it in sets.tests.items()}
    return Prepared(
        bundle=bundle,
        feed=_feed(settings, encoded["train"], machine),
        objective=HeadObjective(_language_weight(settings)),
        width=settings.model.width,
        validate=_validation(shape, bundle, watched, machine),
        tests=tests or {"valid": watched},
        facts=_facts(settings, sets, encoded["train"], bundle),
    )


def _is_encoder(settings: Any) -> bool:
    return is_bidirectional(settings.model.family)


def _feed(settings: Any, learned: EncodedRows, machine: Machine) -> PairFeed:
    """Return the updates: so many examples each, or so many tokens."""
    train = settings.train
    micro_batch = train.micro_batch_tokens or machine.micro_batch_tokens
    pool = 1 if _is_encoder(settings) else POOL
    examples = train.examples_per_update
    size = train.tokens_per_update if examples is None else examples
    return PairFeed(lambda epoch: learned, size, micro_batch, settings.seed, pool, examples is not None)


def _language_weight(settings: Any) -> float:
    """Return the weight of the next token beside the label; whoever reads in both directions has none."""
    given = settings.objective.lm_weight
    if not _is_encoder(settings):
        return LANGUAGE_WEIGHT if given is None else float(given)
    if given:
        raise ConfigError(
            f"objective.lm_weight: {given} is for language models; a text encoder has seen the next token "
            f"already, so leave it out."
        )
    return 0.0


def new_label_bundle(
    shape: HeadTask[Any], settings: Any, sets: ExampleSets, machine: Machine, progress: Progress
) -> Bundle:
    """Return the model to begin with, or a fresh one, under a head and with the tokens it takes to frame texts."""
    kind = family(settings.model.family).kind
    if kind == "bidirectional-lm" and settings.init_from is None:
        raise ConfigError(
            f"init_from: {settings.task} begins with an ELMo that has learned; give --init-from RUN (regard train "
            f"elmo makes one)."
        )
    texts = lambda *given: [text for examples in given for each in examples for text in shape.vocabulary(each)]
    if kind == "embeddings":
        start: Bundle | None = begin_words(settings, texts(sets.train), texts(*sets.sets.values()), progress)
    else:
        start = None if settings.init_from is None else read_start(settings.init_from)
    beside = None
    if start and start.head and start.head.extra_vectors and settings.extra_vectors is None:
        progress.say(
            f"{settings.init_from}: the word vectors beside it stay behind with its head; extra_vectors=FILE gives "
            f"some."
        )
    if settings.extra_vectors is not None:
        beside = find_beside(settings, start, texts(sets.train), texts(*sets.sets.values()), progress)
    facts: dict[str, Any] = {"seed": settings.seed} | shape.facts(settings, sets.train, sets.labels, start)
    base = start.tokenizers["tokenizer"] if start else _new_tokenizer(shape, settings, sets, progress)
    tokenizer = base if _is_encoder(settings) else base.with_special(FRAME_TOKENS)
    new = (
        [] if _is_encoder(settings) else [tokenizer.token_id(token) for token in FRAME_TOKENS if not base.has(token)]
    )
    size = max(tokenizer.size, *(number + 1 for number in new), start.vocabularies.target if start else 0)
    is_letters = kind == "bidirectional-lm" and start is not None
    vocabularies = start.vocabularies if is_letters and start else Vocabularies(size, size, is_shared=True)
    head = _head(shape, settings, facts, start, beside)
    check_size(count_parameters(settings.model, vocabularies, head), machine)
    torch.manual_seed(settings.seed)
    model: Any = build_model(settings.model, vocabularies, head)
    if start:
        load_matching_weights(model.body, body_weights(start), new)
    if beside:
        beside.fill(model.beside)
        facts["extra_vectors"] = beside.facts
    if settings.init_from is not None:
        facts["init_from"] = {"path": settings.init_from, "sha256": start_hash(settings.init_from)}
    if sets.reports["train"].columns:
        facts["columns"] = sets.reports["train"].columns
    facts["max_length"] = _max_length(settings, model.max_positions, start.facts.get("length") if start else None)
    others = {"words": start.tokenizers["words"]} if is_letters and start else {}
    tokenizers = {"tokenizer": tokenizer, **others}
    return Bundle(settings.task, model, settings.model, vocabularies, tokenizers, facts, head)


def _head(
    shape: HeadTask[Any], settings: Any, facts: dict[str, Any], start: Bundle | None, beside: ExtraVectors | None
) -> HeadSettings:
    """Return what stands above the model: its head, and perhaps a mix of layers and a reader."""
    kind = family(settings.model.family).kind
    if settings.freeze_body and settings.init_from is None:
        raise ConfigError("freeze_body: there is no start that could stay as it is; give one, or leave it out.")
    if settings.bilstm_width and not _is_encoder(settings):
        raise ConfigError("bilstm_width: a reader stands over models that read both ways; leave it out.")
    head = shape.head_settings(facts, settings.head_dropout, _pooling(shape, settings, start))
    if head.kind == "similarity":
        if beside:
            raise ConfigError(
                f"extra_vectors: {settings.extra_vectors} has no place in texts that are read apart; leave it out."
            )
        return head
    usual = READER_WIDTH if kind in ("bidirectional-lm", "embeddings") else 0
    more = {
        "extra_vectors": beside and beside.settings,
        "is_mixed": kind == "bidirectional-lm",
        "freeze_body": kind == "bidirectional-lm" if settings.freeze_body is None else settings.freeze_body,
        "bilstm_width": usual if settings.bilstm_width is None else settings.bilstm_width,
    }
    return head.model_copy(update=more)


def _pooling(shape: HeadTask[Any], settings: Any, start: Bundle | None) -> str:
    """Return what stands for a whole text: what a user says, or else what the model to begin with was made for."""
    if not _is_encoder(settings):
        if settings.pooling in ("mean", "max"):
            raise ConfigError(
                f'pooling: "{settings.pooling}" is for text encoders; of a language model the last token has seen '
                f"most, so leave it out."
            )
        return "token"
    usual = "mean" if start is not None and start.facts.get("embed", {}).get("pooling") == "mean" else "token"
    if family(settings.model.family).kind in ("bidirectional-lm", "embeddings") or settings.bilstm_width:
        usual = "mean" if settings.bilstm_width == 0 else "max"
    return (settings.pooling or usual) if shape.head in OF_WHOLE_TEXTS else "token"


def _new_tokenizer(shape: HeadTask[Any], settings: Any, sets: ExampleSets, progress: Progress) -> Tokenizer:
    if settings.text.tokenizer:
        return Tokenizer.load(Path(settings.text.tokenizer))
    texts = dict.fromkeys(text for each in sets.train for text in shape.vocabulary(each))
    return train_tokenizer(texts, settings.text, progress)


def _max_length(settings: Any, bound: int | None, learned: int | None) -> int:
    """Return how many tokens are read: what a user says, or else as many as the model has `learned` to read."""
    wanted: int | None = settings.max_length
    if bound is not None and bound < SHORTEST:
        raise ConfigError(
            f"model.max_positions: {bound} places leave no room for a text between its marks; {SHORTEST} are needed."
        )
    known = [each for each in (bound, learned) if each is not None]
    if wanted is None:
        usual = USUAL_LETTERS if family(settings.model.family).kind == "bidirectional-lm" else USUAL_LENGTH
        return min(known, default=usual)
    if wanted == type(settings).model_fields["max_length"].default:  # a task's usual length, not a user's wish
        return min([wanted, *known])
    if bound is not None and wanted > bound:
        raise ConfigError(
            f"max_length: {wanted:,} tokens are more than the {bound:,} places the model has; lower it."
        )
    return wanted


def _validation(
    shape: HeadTask[Any], bundle: Bundle, watched: ScoredSet, machine: Machine
) -> Callable[[Any], dict[str, float]]:
    """Return the function the loop validates with: the loss, and the figures of the task."""
    facts, limit = bundle.facts, machine.micro_batch_tokens

    def validate(model: Any) -> dict[str, float]:
        with machine.autocast():
            answers = shape.ask(model, facts, watched.examples, watched.encoded, machine.device, limit)
        answers = shape.tune(watched.examples, answers, facts)
        figures = shape.figures(watched.examples, answers, facts)
        return {"loss": answers.loss} | {name: float(figures[name]) for name in shape.watched}

    return validate


def _facts(settings: Any, sets: ExampleSets, learned: EncodedRows, bundle: Bundle) -> dict[str, Any]:
    return {name: report.plain() for name, report in sets.reports.items()} | {
        "files": example_files(settings.data),
        "hash": learned.fingerprint(),
        "texts": bundle.facts.get("texts", 1),
        **start_facts(bundle),
    }
