"""Preparation of an ELMo's run: text as bytes, words counted, the model built, and what the loop needs."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.splits import TextSplits, check_held_out, tokenize_all
from regard.data.feeds.char_words import CHUNK, CharWordFeed, WordLookup, count_words, fixed_words
from regard.errors import DataError
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.elmo.model import ElmoSettings
from regard.objectives.bidirectional_lm import BidirectionalObjective
from regard.tasks.baseline import token_baseline
from regard.tasks.data import Prepared
from regard.tasks.declarations import Context
from regard.tasks.elmo.evaluate import CharText, bidirectional_losses
from regard.tasks.elmo.records import ElmoFacts, ElmoReport
from regard.tasks.elmo.settings import ElmoRunSettings
from regard.tasks.init_from import load_pretrained, origin_facts
from regard.tasks.model_size import new_model
from regard.tasks.text.corpora import corpora_report, corpus_eval_sets, corpus_folder
from regard.text.char_tokenizer import spelling_tokenizer, word_tokenizer
from regard.text.tokenizer import SPECIAL_TOKENS, Tokenizer
from regard.training.device.machine import Machine

Settings = ElmoRunSettings[ModelSettings]

MANY_UNKNOWN = 0.1
"""Fraction of out-of-vocabulary words from which on a warning is given."""


def load_bytes(settings: Settings, context: Context) -> TextSplits:
    """Return the text as bytes, or as it was encoded before."""
    if context.resumed is None:
        check_held_out(settings.data)
    known = context.known
    tokenizer = known.tokenizers["tokenizer"] if known else spelling_tokenizer(settings.text.lowercase)
    return tokenize_all(settings.data, tokenizer, _folder(settings), context.progress, context.shares or None)


def _folder(settings: Settings) -> Path:
    return corpus_folder(settings.data, settings.text, settings.init_from)


def prepare_elmo(settings: Settings, corpora: TextSplits, bundle: Bundle, machine: Machine) -> Prepared[TextSplits]:
    """Return characters of words as updates, objective, validation, test sets and report."""
    facts = ElmoFacts.read(bundle)
    texts = {name: CharText.of(each, bundle) for name, each in {"valid": corpora.valid, **corpora.test}.items()}
    train, size = CharText.of(corpora.train, bundle), facts.bytes_per_word
    check_neighbors({settings.data.train.name: train, **texts})
    return Prepared(
        bundle=bundle,
        feed=CharWordFeed(
            corpora.train,
            train.book,
            train.length,
            round(settings.train.tokens_per_update * size),
            round((settings.train.micro_batch_tokens or machine.micro_batch_tokens) * size),
            settings.seed,
        ),
        objective=BidirectionalObjective(),
        width=settings.model.width,
        validate=_validation(texts["valid"], settings, machine),
        tests=corpus_eval_sets(
            corpora.test or {"valid": corpora.valid}, settings.data, bundle.tokenizers["tokenizer"]
        ),
        report=ElmoReport.model_validate(
            corpora_report(corpora)
            | {"window": facts.window, "vocabulary": facts.words, "folder": str(_folder(settings))}
            | origin_facts(bundle)
        ),
        data=corpora,
        baseline=_baseline(texts["valid"]),
    )


def _baseline(text: CharText) -> dict[str, float]:
    """Return the loss of predicting each word with its frequency in (the beginning of) a text."""
    _, numbers = text.book(text.corpus.read(0, min(len(text.corpus), CHUNK)))
    return token_baseline(numbers)


def new_elmo_bundle(settings: Settings, corpus: Corpus, context: Context) -> Bundle:
    """Return a new model with its byte tokenizer and output vocabulary, or the pretrained one.

    The vocabulary is counted here, as the length of its words depends on the model. A model too large is refused.
    """
    pretrained, progress = context.pretrained, context.progress
    assert isinstance(settings.model, ElmoSettings)
    longest = settings.model.longest_word - 1
    tokenizers = pretrained.tokenizers if pretrained else _new_tokenizers(settings, corpus, longest)
    words = tokenizers["words"]
    vocabularies = Vocabularies(tokenizers["tokenizer"].size, words.size, is_shared=False)
    sample = corpus.read(0, min(len(corpus), CHUNK))
    _, numbers = WordLookup(words, longest)(sample)
    unknown = float((numbers == words.unk_id).mean())
    if settings.preflight and unknown > MANY_UNKNOWN:
        progress.warn(
            f"{settings.data.train.name}: {unknown:.0%} of the words are out of the output vocabulary, so the "
            f"softmax cannot predict them; raise text.words ({settings.text.words:,}), or lower text.min_frequency "
            f"({settings.text.min_frequency})."
        )
    count = words.size - len(SPECIAL_TOKENS)
    facts: dict[str, Any] = {
        "seed": settings.seed,
        "window": settings.window,
        # Decided once, so that a resumed run has the same windows.
        "bytes_per_word": round(len(sample) / max(1, len(numbers)), 4),
        "words": count,
    }
    progress.info(f"The output vocabulary has {count:,} words; any word can be an input.")
    model = new_model(settings, vocabularies, context.machine)
    if pretrained:
        facts |= load_pretrained(model, pretrained, settings.init_from)
    return Bundle(settings.task, model, settings.model, vocabularies, tokenizers, facts)


def _new_tokenizers(settings: Settings, corpus: Corpus, longest: int) -> dict[str, Tokenizer]:
    """Return the byte tokenizer, and the output vocabulary of the most frequent words."""
    vocabulary = count_words(corpus, settings.text.words, settings.text.min_frequency, longest)
    if not vocabulary:
        raise DataError(
            f"{settings.data.train.name}: no word occurs {settings.text.min_frequency} times, so the "
            f"output vocabulary is empty; add text, or lower text.min_frequency."
        )
    return {"tokenizer": spelling_tokenizer(settings.text.lowercase), "words": word_tokenizer(vocabulary)}


def check_neighbors(texts: Mapping[str, CharText]) -> None:
    """Refuse texts, by name, in which no word has a neighbor to be predicted from."""
    for name, text in texts.items():
        batches = fixed_words(text.corpus, text.book, text.length, text.length)
        if not any(batch.label_count for batch in batches):
            raise DataError(f"{name}: no word of this text has a neighbor; add text.")


def _validation(text: CharText, settings: Settings, machine: Machine) -> Callable[[Any], dict[str, float]]:
    """Return the function the loop validates with: both losses of the same text each time."""

    def validate(model: Any) -> dict[str, float]:
        return bidirectional_losses(model, text, machine, settings.validation.words).named()

    return validate
