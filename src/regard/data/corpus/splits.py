"""The texts of a run, tokenized; where there is none to validate on, some is set apart, always the same."""

from collections import deque
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from regard.data.corpus.corpus import Corpus, Ids
from regard.data.corpus.shards import tokenize
from regard.data.settings.text import MarkedTextData, TextData
from regard.data.sources.text_files import FileInput, find_inputs, read_documents
from regard.errors import DataError
from regard.progress import SILENT, Progress
from regard.text.tokenizer import Tokenizer

FEWEST = 20_000
"""Validation tokens carved out at least, unless that is more than a tenth."""

MOST = 1_000_000
"""Validation tokens carved out at most: more would take long and say the same."""

WEIGHED = 1_000_000
"""Documents that are looked at in order of their marks; beyond so many, those with the lowest."""


@dataclass(frozen=True)
class TextSplits:
    """What is learned from, what is watched, and what is scored at the end."""

    train: Corpus
    valid: Corpus
    test: dict[str, Corpus]


def check_held_out(data: TextData) -> None:
    """Read the files to validate and to test on once: a fault there is reported before a large text is tokenized."""
    for place in (data.valid, *data.test.values()):
        if place is not None and all(isinstance(each, FileInput) for each in find_inputs(place)):
            deque(read_documents(place), maxlen=0)


def tokenize_all(data: TextData, tokenizer: Tokenizer, folder: Path, progress: Progress = SILENT) -> TextSplits:
    """Return the texts of a run, each kept in a folder of its own inside `folder`."""
    sentences = data.sentences if isinstance(data, MarkedTextData) else None
    made = lambda place, name, title: tokenize(place, tokenizer, folder / name, progress, title, sentences=sentences)
    train = made(data.train, "train", "tokenize")
    if data.valid is None:
        train, valid = hold_out(train, data.valid_fraction)
        progress.say(f"{len(valid):,} of {len(train) + len(valid):,} tokens are set apart for validation.")
    else:
        valid = made(data.valid, "valid", "tokenize valid")
    test = {name: made(place, f"test-{name}", f"tokenize {name}") for name, place in data.test.items()}
    return TextSplits(train, valid, test)


def hold_out(corpus: Corpus, share: float) -> tuple[Corpus, Corpus]:
    """Return (training, validation) text: whole documents chosen by a hash of their beginnings.

    Where every document is longer than what is to be set apart, it is the end of the last one.
    """
    total = len(corpus)
    budget = int(min(max(share * total, min(0.1 * total, FEWEST)), MOST))
    chosen = _chosen(corpus, budget)
    if not len(chosen):
        chosen = np.array([[_last_cut(corpus, total - budget), total]])
    begins, ends = chosen[:, 0].tolist(), chosen[:, 1].tolist()
    kept = [(begin, end) for begin, end in zip([0, *ends], [*begins, total], strict=True) if begin < end]
    return corpus.select(kept), corpus.select(list(zip(begins, ends, strict=True)))


def _chosen(corpus: Corpus, budget: int) -> Ids:
    """Return (begin, end) of the documents with the lowest marks that are within the budget, in their order.

    Documents that begin alike have one mark and stay together, so a copy of what is set apart is not learned from.
    """
    documents = documents_of(corpus, max(4 * budget / len(corpus), WEIGHED / max(1, corpus.counts.documents)))
    chosen: list[list[int]] = []
    left = budget
    in_order = documents[np.argsort(documents[:, 2], kind="stable")].tolist()
    for _, alike in groupby(in_order, key=lambda each: each[2]):
        places = [[begin, end] for begin, end, _ in alike]
        size = sum(end - begin for begin, end in places)
        if size <= left:
            chosen += places
            left -= size
        elif left < budget // 2:
            break
    return np.array(sorted(chosen), np.int64).reshape(-1, 2)


def documents_of(corpus: Corpus, limit: float = 1.0) -> Ids:
    """Return (begin, end, mark) of the whole documents whose mark is below a limit between 0 and 1."""
    found = [np.empty((0, 3), np.int64)]
    begin = 0
    for ends, rows in corpus.pieces():
        last = rows["is_last"]
        stops, marks = ends[last], rows["mark"][last]
        table = np.stack([np.concatenate([[begin], stops])[:-1], stops, marks], axis=1)
        begin = int(stops[-1]) if len(stops) else begin
        found.append(table[table[:, 2] < limit * 2**32])
    return np.concatenate(found)


def _last_cut(corpus: Corpus, wanted: int) -> int:
    """Return the end of a piece that is nearest to a place."""
    best = 0
    for ends, _ in corpus.pieces():
        inside = ends[ends < len(corpus)]
        best = min(
            [best, *inside[np.argsort(np.abs(inside - wanted))[:1]].tolist()], key=lambda end: abs(end - wanted)
        )
    if best == 0:
        raise DataError(
            f"There are only {len(corpus)} tokens to learn from, too few to set some apart for validation; add text, "
            f"or name a validation text with --valid-text (data.valid)."
        )
    return best
