"""Tokenized splits of a run; without a validation text, documents are held out of the training text by hash."""

from collections import deque
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from regard.data.corpus.corpus import Corpus, Ids
from regard.data.corpus.shards import tokenize
from regard.data.settings.text import MaskedTextData, TextData
from regard.data.sources.text_files import FileInput, find_inputs, read_documents
from regard.errors import DataError
from regard.progress import SILENT, Progress
from regard.text.tokenizer import Tokenizer

FEWEST = 20_000
"""Minimum number of validation tokens, unless that exceeds a tenth of all."""

MOST = 1_000_000
"""Maximum number of validation tokens: more would take longer and hardly change the score."""

CANDIDATES = 1_000_000
"""Documents considered for validation, in order of their hashes; of a larger corpus, those with the lowest."""


@dataclass(frozen=True)
class TextSplits:
    """Training, validation and test text."""

    train: Corpus
    valid: Corpus
    test: dict[str, Corpus]


def check_held_out(data: TextData) -> None:
    """Read the validation and test files once: their errors are reported before a large text is tokenized."""
    for source in (data.valid, *data.test.values()):
        if source is not None and all(isinstance(each, FileInput) for each in find_inputs(source)):
            deque(read_documents(source), maxlen=0)


def tokenize_all(
    data: TextData, tokenizer: Tokenizer, folder: Path, progress: Progress = SILENT, share: bool | None = None
) -> TextSplits:
    """Return the tokenized splits, each cached in its own subfolder of `folder`; `share`: as `tokenize` has it."""
    sentences = data.sentences if isinstance(data, MaskedTextData) else None
    tokenized = lambda source, name, title: tokenize(
        source, tokenizer, folder / name, progress, title, sentences=sentences, share=share
    )
    train = tokenized(data.train, "train", "tokenize")
    if data.valid is None:
        train, valid = hold_out(train, data.valid_fraction)
        progress.info(f"{len(valid):,} of {len(train) + len(valid):,} tokens are held out for validation.")
    else:
        valid = tokenized(data.valid, "valid", "tokenize valid")
    test = {name: tokenized(source, f"test-{name}", f"tokenize {name}") for name, source in data.test.items()}
    return TextSplits(train, valid, test)


def hold_out(corpus: Corpus, fraction: float) -> tuple[Corpus, Corpus]:
    """Return (training, validation) text: whole documents chosen by a hash of their beginnings.

    If every document is longer than the validation text may be, the end of the last document is held out.
    """
    total = len(corpus)
    budget = int(min(max(fraction * total, min(0.1 * total, FEWEST)), MOST))
    chosen = _chosen(corpus, budget)
    if not len(chosen):
        chosen = np.array([[_last_cut(corpus, total - budget), total]])
    begins, ends = chosen[:, 0].tolist(), chosen[:, 1].tolist()
    kept = [(begin, end) for begin, end in zip([0, *ends], [*begins, total], strict=True) if begin < end]
    return corpus.select(kept), corpus.select(list(zip(begins, ends, strict=True)))


def _chosen(corpus: Corpus, budget: int) -> Ids:
    """Return (begin, end) of the documents with the lowest hashes that fit the budget, in corpus order.

    Documents with equal beginnings have equal hashes and stay together, so no copy of a held-out text is trained on.
    """
    documents = documents_of(corpus, max(4 * budget / len(corpus), CANDIDATES / max(1, corpus.counts.documents)))
    chosen: list[list[int]] = []
    left = budget
    in_order = documents[np.argsort(documents[:, 2], kind="stable")].tolist()
    for _, alike in groupby(in_order, key=lambda each: each[2]):
        spans = [[begin, end] for begin, end, _ in alike]
        size = sum(end - begin for begin, end in spans)
        if size <= left:
            chosen += spans
            left -= size
        elif left < budget // 2:
            break
    return np.array(sorted(chosen), np.int64).reshape(-1, 2)


def documents_of(corpus: Corpus, limit: float = 1.0) -> Ids:
    """Return (begin, end, hash) of the documents whose hash, as a fraction, is below a limit in [0, 1]."""
    tables = [np.empty((0, 3), np.int64)]
    begin = 0
    for ends, rows in corpus.chunks():
        last = rows["is_last"]
        stops, marks = ends[last], rows["mark"][last]
        table = np.stack([np.concatenate([[begin], stops])[:-1], stops, marks], axis=1)
        begin = int(stops[-1]) if len(stops) else begin
        tables.append(table[table[:, 2] < limit * 2**32])
    return np.concatenate(tables)


def _last_cut(corpus: Corpus, wanted: int) -> int:
    """Return the chunk boundary nearest to a position."""
    best = 0
    for ends, _ in corpus.chunks():
        inside = ends[ends < len(corpus)]
        best = min(
            [best, *inside[np.argsort(np.abs(inside - wanted))[:1]].tolist()], key=lambda end: abs(end - wanted)
        )
    if best == 0:
        raise DataError(
            f"There are only {len(corpus)} tokens to learn from, too few to hold some out for validation; add text, "
            f"or name a validation text with --valid-text (data.valid)."
        )
    return best
