"""Checks of running text: what its tokenizer cannot spell, how finely it cuts, and what a conversion left behind."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from regard.data.corpus.corpus import Corpus, Ids
from regard.data.settings.text import TextSource
from regard.data.sources.text_files import find_inputs
from regard.tasks.checks.tokenizers import RESIDUES, few, piece_finding, rare_finding, spelling
from regard.tasks.data import TextTaskData
from regard.tasks.findings import Finding, graded, percent, shown, some

COUNTED = 8_000_000
"""Tokens that are counted at most: of more, stretches from all over."""
STRETCH = 2**16
FILES, BYTES = 100, 4 * 2**20
"""Files that are looked into at most, and bytes that are read of them in all."""
AROUND = 12
"""Tokens on either side of an unknown one that are shown."""


def running_text_findings(data: TextTaskData) -> list[Finding]:
    """Return what is odd about the text and its tokenizer."""
    corpus, text = data.corpora.train, data.settings.text
    counts, pieces = corpus.counts, len(corpus) - corpus.counts.documents  # an end token stands behind each document
    ids = np.concatenate(list(stretches(corpus, COUNTED)))
    seen = np.bincount(ids, minlength=data.tokenizer.size)
    return [
        *_unknown(data, ids),
        *_residues(data.settings.data.train),
        piece_finding("", max(1, pieces), counts.words, (counts.bytes, "byte"), text),
        rare_finding(seen, data.tokenizer, "", text, len(ids) / len(corpus)),
    ]


def stretches(corpus: Corpus, most: int) -> Iterator[Ids]:
    """Yield all of a corpus, or so many of its tokens in stretches from all over it."""
    step = max(STRETCH, int(STRETCH * len(corpus) / most))
    for begin in range(0, len(corpus), step):
        yield corpus.read(begin, min(begin + STRETCH, len(corpus)))


def _unknown(data: TextTaskData, ids: Ids) -> list[Finding]:
    tokenizer = data.tokenizer
    if tokenizer.unk_id == tokenizer.eos_id:  # one token may do both works, and can then spell everything
        return []
    sets = {"training set": ids}
    sets |= {title: next(stretches(corpus, STRETCH)) for title, corpus in data.held_out.items()}
    shares = {title: float(np.mean(each == tokenizer.unk_id)) for title, each in sets.items()}
    worst = max(shares, key=lambda title: shares[title])
    if shares[worst] == 0:
        return [Finding("text", "unknown-pieces", "ok", "The tokenizer can spell every text.")]
    places = np.flatnonzero(sets[worst] == tokenizer.unk_id).tolist()
    around = (sets[worst][max(0, place - AROUND) : place + AROUND].tolist() for place in places)
    return [
        Finding(
            "text",
            "unknown-pieces",
            graded(shares[worst], note=0.0, warning=1e-3, problem=0.1),
            f"{percent(shares[worst], 1)} of the tokens of the {worst} are unknown, so their meaning is lost.",
            some(shown(tokenizer.decode(each)) for each in around),
            *spelling(data.settings.text),
            figures={f"{title} share": value for title, value in shares.items()},
        )
    ]


def _residues(place: TextSource) -> list[Finding]:
    """Look for what a conversion left behind, in the beginnings of files."""
    odd: list[str] = []
    kinds: set[str] = set()
    words = count = 0
    for text in beginnings(place):
        found = RESIDUES.findall(text)
        words, count = words + len(text.split()), count + len(found)
        kinds.update(found)
        odd += [line for line in text.splitlines() if RESIDUES.search(line)][:1] if found else []
    if not count:
        return []
    rate = 1000 * count / max(1, words)
    return [
        Finding(
            "text",
            "residues",
            graded(rate, note=0.0, warning=5.0),
            f"{count:,} of {words:,} words looked at are remains of another format: {few(sorted(kinds))}.",
            some(map(shown, odd)),
            "convert the files again, or replace them",
            figures={"count": count, "per_thousand_words": rate},
        )
    ]


def beginnings(place: TextSource) -> Iterator[str]:
    """Yield pieces from the beginnings of some of the files of a place."""
    inputs = find_inputs(place)
    chosen = inputs[:: -(-len(inputs) // FILES)]
    for each in chosen:
        left = BYTES // len(chosen)
        for piece in islice(each.pieces(), place.max_rows):
            yield piece.text
            left -= len(piece.text)
            if left <= 0:
                break
