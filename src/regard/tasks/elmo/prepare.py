"""The task `elmo`: running text in, a model that is ready to say its words in either direction out."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.splits import TextSplits, check_held_out, tokenize_all
from regard.data.feeds.char_words import CHUNK, CharWordFeed, WordBook, count_words, fixed_words
from regard.data.sources.pair import Pair
from regard.errors import ConfigError, DataError
from regard.models.base.protocols import ModelSettings, Vocabularies
from regard.models.families import build_model, count_parameters
from regard.objectives.bidirectional_lm import TwoWayObjective
from regard.progress import SILENT, Progress
from regard.tasks.data import Prepared
from regard.tasks.elmo.evaluate import SpelledText, both_losses
from regard.tasks.elmo.settings import ElmoRunSettings
from regard.tasks.init_from import load_pretrained, start_facts, start_of
from regard.tasks.language_model.prepare import corpus_folder
from regard.tasks.model_size import check_size
from regard.text.char_tokenizer import spelling_tokenizer, word_tokenizer
from regard.text.tokenizer import SPECIAL_TOKENS, Tokenizer
from regard.training.device.machine import Machine

Settings = ElmoRunSettings[ModelSettings]

MANY_UNKNOWN = 0.1
"""Share of words that cannot be said from which on that is told."""


def prepare_elmo(
    settings: Settings,
    machine: Machine,
    progress: Progress = SILENT,
    resumed: Bundle | None = None,
    given: Sequence[Pair] | None = None,
) -> Prepared:
    """Spell the text (or take it as it was spelled before), count its words, and build the model."""
    if given is not None:
        raise ConfigError("Sentence pairs are for the task translate; elmo learns from text files.")
    if resumed is None:
        check_held_out(settings.data)
    start = start_of(settings, resumed)
    known = resumed or start
    tokenizer = known.tokenizers["tokenizer"] if known else spelling_tokenizer(settings.text.lowercase)
    folder = corpus_folder(settings, settings.init_from)
    corpora = tokenize_all(settings.data, tokenizer, folder, progress)
    bundle = resumed or new_elmo_bundle(settings, corpora.train, machine, progress, start)
    texts = {name: SpelledText.of(each, bundle) for name, each in {"valid": corpora.valid, **corpora.test}.items()}
    size = float(bundle.facts["bytes_per_word"])
    learned = SpelledText.of(corpora.train, bundle)
    check_neighbours({settings.data.train.name: learned, **texts})
    return Prepared(
        bundle=bundle,
        feed=CharWordFeed(
            corpora.train,
            learned.book,
            learned.length,
            round(settings.train.tokens_per_update * size),
            round((settings.train.micro_batch_tokens or machine.micro_batch_tokens) * size),
            settings.seed,
        ),
        objective=TwoWayObjective(),
        width=settings.model.width,
        validate=_validation(texts["valid"], settings, machine),
        tests={name: texts[name] for name in corpora.test or ("valid",)},
        facts=_facts(corpora, bundle) | {"folder": str(folder)} | start_facts(bundle),
    )


def new_elmo_bundle(
    settings: Settings, corpus: Corpus, machine: Machine, progress: Progress, start: Bundle | None = None
) -> Bundle:
    """Return a fresh model with what it spells and the words it says, or the one to go on with.

    One that is too large here is refused.
    """
    model_settings: Any = settings.model
    longest = model_settings.longest_word - 1
    tokenizers = start.tokenizers if start else _new_tokenizers(settings, corpus, longest)
    words = tokenizers["words"]
    vocabularies = Vocabularies(tokenizers["tokenizer"].size, words.size, is_shared=False)
    check_size(count_parameters(settings.model, vocabularies), machine)
    torch.manual_seed(settings.seed)
    sample = corpus.read(0, min(len(corpus), CHUNK))
    _, numbers = WordBook(words, longest)(sample)
    unknown = float((numbers == words.unk_id).mean())
    if settings.preflight and unknown > MANY_UNKNOWN:
        progress.warn(
            f"{settings.data.train.name}: {unknown:.0%} of the words cannot be said, and are all the same to the "
            f"softmax; raise text.words ({settings.text.words:,}), or lower text.min_frequency "
            f"({settings.text.min_frequency})."
        )
    count = words.size - len(SPECIAL_TOKENS)
    facts: dict[str, Any] = {
        "seed": settings.seed,
        "window": settings.window,
        # Decided once, so that a run that is resumed reads the same windows.
        "bytes_per_word": round(len(sample) / max(1, len(numbers)), 4),
        "words": count,
    }
    progress.say(f"{count:,} words can be said; any can be read.")
    model = build_model(settings.model, vocabularies)
    if start:
        facts |= load_pretrained(model, start, settings)
    return Bundle("elmo", model, settings.model, vocabularies, tokenizers, facts)


def _new_tokenizers(settings: Settings, corpus: Corpus, longest: int) -> dict[str, Tokenizer]:
    """Return what spells words, and the words that can be said: the most frequent ones."""
    known = count_words(corpus, settings.text.words, settings.text.min_frequency, longest)
    if not known:
        raise DataError(
            f"{settings.data.train.name}: no word occurs {settings.text.min_frequency} times, so there is none "
            f"to say; add text, or lower text.min_frequency."
        )
    return {"tokenizer": spelling_tokenizer(settings.text.lowercase), "words": word_tokenizer(known)}


def check_neighbours(texts: Mapping[str, SpelledText]) -> None:
    """Refuse texts, by name, in which no word has a neighbor that it could be known by."""
    for name, text in texts.items():
        batches = fixed_words(text.corpus, text.book, text.length, text.length)
        if not any(batch.label_count for batch in batches):
            raise DataError(f"{name}: no two words stand side by side in this text; add text.")


def _validation(text: SpelledText, settings: Settings, machine: Machine) -> Callable[[Any], dict[str, float]]:
    """Return the function the loop validates with: both losses of the same text each time."""

    def validate(model: Any) -> dict[str, float]:
        return both_losses(model, text, machine, settings.validation.words).named()

    return validate


def _facts(corpora: TextSplits, bundle: Bundle) -> dict[str, Any]:
    sets = {"train": corpora.train, "valid": corpora.valid} | {f"test {k}": v for k, v in corpora.test.items()}
    return {name: asdict(corpus.counts) for name, corpus in sets.items()} | {
        "window": bundle.facts["window"],
        "vocabulary": bundle.facts["words"],
        "hash": hashlib.sha256(f"{corpora.train.fingerprint} {corpora.valid.fingerprint}".encode()).hexdigest(),
    }
