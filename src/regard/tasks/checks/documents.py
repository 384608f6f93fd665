"""Checks of sets of documents for leaks (text of a test set in the training set) and duplicates."""

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus.corpus import Corpus, Ids
from regard.data.corpus.splits import documents_of
from regard.tasks.checks.running_text import STRETCH
from regard.tasks.data import TextTaskData
from regard.tasks.findings import Finding, graded, percent, shown, some
from regard.text.tokenizer import Tokenizer

PASSAGE = 50
"""Tokens of a passage: two texts with one in common are copies."""
PASSAGES = 1000
"""Maximum number of passages of a set that are searched for."""
SEARCHED = 20_000_000
"""Maximum number of training tokens that are searched: evenly spread stretches of a longer text."""
BASE = np.uint64(0x9E3779B97F4A7C15)
"""An odd number, so that it has an inverse modulo 2**64."""
Keys = NDArray[np.uint64]


def document_findings(data: TextTaskData) -> list[Finding]:
    """Return the documents that occur in two sets, or twice in one."""
    train = documents_of(data.corpora.train)
    keys = _keys(train)
    leaks = []
    for title, corpus in data.held_out.items():
        leaks += _leaked(keys, title, corpus, data.tokenizer)
    if not leaks:
        count = 1 + len(data.held_out)
        leaks = [Finding("splits", "leaked-documents", "ok", f"No document occurs in two of the {count} sets.")]
    return leaks + _duplicates(train, keys, data)


def _keys(documents: Ids) -> Keys:
    """Return a key for each document, of its length and a hash of its beginning."""
    lengths = (documents[:, 1] - documents[:, 0]).astype(np.uint64)
    return documents[:, 2].astype(np.uint64) << np.uint64(31) ^ lengths


def _leaked(known: Keys, title: str, corpus: Corpus, tokenizer: Tokenizer) -> list[Finding]:
    documents = documents_of(corpus)
    same = documents[np.isin(_keys(documents), known)]
    if not len(same):
        return []
    fraction = int((same[:, 1] - same[:, 0]).sum()) / len(corpus)
    return [
        Finding(
            "splits",
            "leaked-documents",
            graded(fraction, note=0.0, warning=0.005, problem=0.05),
            f"{len(same):,} of the {len(documents):,} documents of the {title} ({percent(fraction, 1)} of its text) "
            f"are also in the training set, so metrics on it reward memorization.",
            some(_beginning(corpus, begin, end, tokenizer) for begin, end, _ in same.tolist()),
            "take them out of one of the sets",
            metrics={"count": len(same), "fraction": fraction},
        )
    ]


def _duplicates(train: Ids, keys: Keys, data: TextTaskData) -> list[Finding]:
    firsts = np.unique(keys, return_index=True)[1]
    copies = np.delete(train, firsts, axis=0)
    if not len(copies):
        return []
    corpus = data.corpora.train
    fraction = int((copies[:, 1] - copies[:, 0]).sum()) / len(corpus)
    return [
        Finding(
            "splits",
            "duplicates",
            graded(fraction, note=0.001, warning=0.1),
            f"{len(copies):,} of the {len(train):,} training documents ({percent(fraction, 1)} of the text) "
            f"duplicate another one and are trained on once more.",
            some(_beginning(corpus, begin, end, data.tokenizer) for begin, end, _ in copies.tolist()),
            "remove the copies" if fraction >= 0.001 else "",
            metrics={"count": len(copies), "fraction": fraction},
        )
    ]


def _beginning(corpus: Corpus, begin: int, end: int, tokenizer: Tokenizer) -> str:
    return shown(" ".join(tokenizer.decode(corpus.read(begin, min(end, begin + 40)).tolist()).split()))


def passage_findings(data: TextTaskData) -> list[Finding]:
    """Return how many passages of the held-out text also occur in the training text, wherever documents begin."""
    findings = []
    for title, corpus in data.held_out.items():
        starts = _passage_starts(corpus)
        if not len(starts):
            continue
        wanted = np.array([hashes(corpus.read(start, start + PASSAGE))[0] for start in starts.tolist()])
        is_known = np.isin(wanted, _known_passages(data.corpora.train, np.sort(wanted)))
        fraction = float(is_known.mean())
        severity = graded(fraction, note=0.01, warning=0.1, problem=0.5)
        effect = "." if severity == "ok" else ", so metrics on it reward memorization in part."
        examples = (_beginning(corpus, start, start + PASSAGE, data.tokenizer) for start in starts[is_known].tolist())
        findings.append(
            Finding(
                "splits",
                "leaked-passages",
                severity,
                f"{int(is_known.sum()):,} of {len(starts):,} passages of {PASSAGE} tokens from the {title} also "
                f"occur in the training text{effect}",
                () if severity == "ok" else some(examples),
                "" if severity == "ok" else "look for copies, and hold out whole documents",
                metrics={"fraction": fraction, "passages": len(starts)},
            )
        )
    return findings


def _passage_starts(corpus: Corpus) -> Ids:
    """Return the first positions of the passages to search for, evenly spread over a set."""
    step = max(PASSAGE, len(corpus) // PASSAGES)
    return np.arange(0, max(0, len(corpus) - PASSAGE + 1), step)


def _known_passages(corpus: Corpus, wanted: Keys) -> Keys:
    """Return the wanted hashes that some passage of a corpus has."""
    known: list[Keys] = [np.empty(0, np.uint64)]
    step = max(STRETCH, int(STRETCH * len(corpus) / SEARCHED))
    for begin in range(0, len(corpus), step):
        part = hashes(corpus.read(begin, min(begin + STRETCH + PASSAGE - 1, len(corpus))))
        at = np.searchsorted(wanted, part).clip(max=len(wanted) - 1)
        known.append(part[wanted[at] == part])
    return np.unique(np.concatenate(known))


def hashes(ids: Ids) -> Keys:
    """Return a rolling hash of every passage in a row of ids (Karp and Rabin, 1987)."""
    if len(ids) < PASSAGE:
        return np.empty(0, np.uint64)
    powers = np.cumprod(np.full(len(ids), BASE, np.uint64))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum((ids.astype(np.uint64) + np.uint64(1)) * powers)])
    passages = sums[PASSAGE:] - sums[:-PASSAGE]
    # The sum of a passage that begins k positions later is multiplied by the base k times: that is undone.
    inverses = np.cumprod(np.full(len(passages), pow(int(BASE), -1, 2**64), np.uint64))
    return passages * inverses
