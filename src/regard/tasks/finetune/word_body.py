"""Whole words under a reader: their vectors from scratch, or out of a file or a run of word vectors."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle
from regard.interop.word_vector_files import VectorTable as Table
from regard.models.base.protocols import Vocabularies
from regard.models.families import build_model
from regard.progress import Progress
from regard.tasks.load import load_word_vectors
from regard.text.char_tokenizer import word_tokenizer, words_of

FREQUENT = 20_000
"""Words of a file that are kept though no example has them: the first ones, which are the most frequent."""


def begin_words(settings: Any, learned: Sequence[str], texts: Sequence[str], progress: Progress) -> Bundle:
    """Return a table of the words of the training texts; where it begins with vectors, of all that have one.

    Words that have no vector begin with one that is drawn, as spread out as the others.
    """
    text = settings.text
    reader = word_tokenizer([], lowercase=text.lowercase)
    counts = Counter(words_of(learned, reader))
    often = [word for word, count in counts.most_common(text.size) if count >= text.min_frequency]
    table = (
        None
        if settings.init_from is None
        else _kept(load_word_vectors(settings.init_from, progress=progress).table, set(words_of(texts, reader)))
    )
    words = list(dict.fromkeys([*often, *(table.words if table else ())]))
    tokenizer = word_tokenizer(words, lowercase=text.lowercase)
    vocabularies = Vocabularies(tokenizer.size, tokenizer.size, is_shared=True)
    torch.manual_seed(settings.seed)
    model: Any = build_model(settings.model, vocabularies)
    if table is not None:
        _fill(model, table, tokenizer.token_id)
        progress.say(
            f"{settings.init_from}: {coverage(counts, set(table.words))}; the others begin with drawn ones, and all "
            f"{'stay as they are' if settings.freeze_body else 'are tuned'}."
        )
    return Bundle(settings.task, model, settings.model, vocabularies, {"tokenizer": tokenizer})


def coverage(counts: Counter[str], known: Collection[str]) -> str:
    """Say how many words of the training set have a vector, and how much of its text they are."""
    found = [word for word in counts if word in known]
    share = sum(counts[word] for word in found) / max(1, counts.total())
    return f"{len(found):,} of {len(counts):,} words of the training set have a vector ({share:.1%} of its text)"


def _kept(table: Table, wanted: set[str]) -> Table:
    """Return the vectors of words that are wanted, and those of the most frequent ones."""
    rows = [row for row, word in enumerate(table.words) if row < FREQUENT or word in wanted]
    return Table([table.words[row] for row in rows], table.vectors[rows])


@torch.no_grad()
def _fill(model: Any, table: Table, number: Any) -> None:
    given = torch.from_numpy(table.vectors).float()
    weight = model.table.weight
    weight.normal_(std=float(given.std()))
    weight[torch.tensor([number(word) for word in table.words])] = given
