"""Word embeddings as the body of a model: random ones, or the word vectors of a file or a run."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle
from regard.interop.word_vector_files import VectorTable
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import build_model
from regard.pipelines.word_vectors import load_word_vectors
from regard.progress import Progress
from regard.tasks.finetune.settings import FineTuneSettings
from regard.text.char_tokenizer import word_tokenizer, words_of
from regard.text.settings import WordTextSettings

FREQUENT = 20_000
"""Words kept from the beginning of a file (its most frequent) even if no example has them."""


def word_body(
    settings: FineTuneSettings[ModelSettings], train: Sequence[str], texts: Sequence[str], progress: Progress
) -> Bundle:
    """Return an embedding of the words of the training texts; with pretrained vectors, of all words that have one.

    Words without a vector get a random one of the same standard deviation.
    """
    text = settings.text
    assert isinstance(text, WordTextSettings)
    splitter = word_tokenizer([], lowercase=text.lowercase)
    counts = Counter(words_of(train, splitter))
    frequent = [word for word, count in counts.most_common(text.size) if count >= text.min_frequency]
    table = (
        None
        if settings.init_from is None
        else _selected(
            load_word_vectors(settings.init_from, progress=progress).entries, set(words_of(texts, splitter))
        )
    )
    words = list(dict.fromkeys([*frequent, *(table.words if table else ())]))
    tokenizer = word_tokenizer(words, lowercase=text.lowercase)
    vocabularies = Vocabularies(tokenizer.size, tokenizer.size, is_shared=True)
    torch.manual_seed(settings.seed)
    model: Any = build_model(settings.model, vocabularies)
    if table is not None:
        _fill(model, table, tokenizer.token_id)
        progress.info(
            f"{settings.init_from}: {describe_coverage(counts, set(table.words))}; the others are random, and all "
            f"{'are frozen' if settings.freeze_body else 'are trained'}."
        )
    return Bundle(settings.task, model, settings.model, vocabularies, {"tokenizer": tokenizer})


def describe_coverage(counts: Counter[str], known: Collection[str]) -> str:
    """Return the number of training words with a vector, and their fraction of the text, as a sentence."""
    covered = [word for word in counts if word in known]
    fraction = sum(counts[word] for word in covered) / max(1, counts.total())
    return f"{len(covered):,} of {len(counts):,} words of the training set have a vector ({fraction:.1%} of its text)"


def _selected(table: VectorTable, wanted: set[str]) -> VectorTable:
    """Return the vectors of the wanted words, and those of the most frequent ones."""
    rows = [row for row, word in enumerate(table.words) if row < FREQUENT or word in wanted]
    return VectorTable([table.words[row] for row in rows], table.vectors[rows])


@torch.no_grad()
def _fill(model: Any, table: VectorTable, token_id: Callable[[str], int]) -> None:
    """Copy the vectors of a table into a word embedding; the other rows are random with the same deviation."""
    given = torch.from_numpy(table.vectors).float()
    weight = model.table.weight
    weight.normal_(std=float(given.std()))
    weight[torch.tensor([token_id(word) for word in table.words])] = given
