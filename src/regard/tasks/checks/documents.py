"""Checks between and inside sets of documents: text that leaks into a test, and text that is there twice."""

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus.corpus import Corpus, Ids
from regard.data.corpus.splits import documents_of
from regard.tasks.checks.running_text import STRETCH
from regard.tasks.data import TextTaskData
from regard.tasks.findings import Finding, graded, percent, shown, some
from regard.text.tokenizer import Tokenizer

PASSAGE = 50
"""Tokens in a row that two texts hardly have in common by chance."""
PASSAGES = 1000
"""Passages of a set that are looked for at most."""
SEARCHED = 20_000_000
"""Tokens that are searched for them at most: of a longer text, stretches from all over it."""
BASE = np.uint64(0x9E3779B97F4A7C15)
"""An odd number, so that it has an inverse among 64 bits."""
Keys = NDArray[np.uint64]


def document_findings(data: TextTaskData) -> list[Finding]:
    """Return which documents stand in two sets, or twice in one."""
    train = documents_of(data.corpora.train)
    keys = _keys(train)
    leaks = []
    for title, corpus in data.held_out.items():
        leaks += _leaked(keys, title, corpus, data.tokenizer)
    if not leaks:
        count = 1 + len(data.held_out)
        leaks = [Finding("splits", "leaked-documents", "ok", f"No document stands in two of the {count} sets.")]
    return leaks + _repeated(train, keys, data)


def _keys(documents: Ids) -> Keys:
    """Return what tells documents apart: how they begin (a hash) and how long they are."""
    lengths = (documents[:, 1] - documents[:, 0]).astype(np.uint64)
    return documents[:, 2].astype(np.uint64) << np.uint64(31) ^ lengths


def _leaked(known: Keys, title: str, corpus: Corpus, tokenizer: Tokenizer) -> list[Finding]:
    held = documents_of(corpus)
    same = held[np.isin(_keys(held), known)]
    if not len(same):
        return []
    share = int((same[:, 1] - same[:, 0]).sum()) / len(corpus)
    return [
        Finding(
            "splits",
            "leaked-documents",
            graded(share, note=0.0, warning=0.005, problem=0.05),
            f"{len(same):,} of the {len(held):,} documents of the {title} ({percent(share, 1)} of its text) are also "
            f"in the training set, so figures on it reward memory.",
            some(_beginning(corpus, begin, end, tokenizer) for begin, end, _ in same.tolist()),
            "take them out of one of the sets",
            figures={"count": len(same), "share": share},
        )
    ]


def _repeated(train: Ids, keys: Keys, data: TextTaskData) -> list[Finding]:
    firsts = np.unique(keys, return_index=True)[1]
    again = np.delete(train, firsts, axis=0)
    if not len(again):
        return []
    corpus = data.corpora.train
    share = int((again[:, 1] - again[:, 0]).sum()) / len(corpus)
    return [
        Finding(
            "splits",
            "duplicates",
            graded(share, note=0.001, warning=0.1),
            f"{len(again):,} of the {len(train):,} training documents ({percent(share, 1)} of the text) repeat "
            f"another one, and are learned from as often.",
            some(_beginning(corpus, begin, end, data.tokenizer) for begin, end, _ in again.tolist()),
            "leave the copies out" if share >= 0.001 else "",
            figures={"count": len(again), "share": share},
        )
    ]


def _beginning(corpus: Corpus, begin: int, end: int, tokenizer: Tokenizer) -> str:
    return shown(" ".join(tokenizer.decode(corpus.read(begin, min(end, begin + 40)).tolist()).split()))


def passage_findings(data: TextTaskData) -> list[Finding]:
    """Return how much of the held-out text also stands in the training text, wherever documents begin."""
    found = []
    for title, corpus in data.held_out.items():
        places = _places(corpus)
        if not len(places):
            continue
        wanted = np.array([hashes(corpus.read(place, place + PASSAGE))[0] for place in places.tolist()])
        is_known = np.isin(wanted, _known_passages(data.corpora.train, np.sort(wanted)))
        share = float(is_known.mean())
        severity = graded(share, note=0.01, warning=0.1, problem=0.5)
        effect = "." if severity == "ok" else ", so figures on it reward memory in part."
        examples = (_beginning(corpus, place, place + PASSAGE, data.tokenizer) for place in places[is_known].tolist())
        found.append(
            Finding(
                "splits",
                "leaked-passages",
                severity,
                f"{int(is_known.sum()):,} of {len(places):,} passages of {PASSAGE} tokens from the {title} also "
                f"stand in the training text{effect}",
                () if severity == "ok" else some(examples),
                "" if severity == "ok" else "look for copies, and set whole documents apart",
                figures={"share": share, "passages": len(places)},
            )
        )
    return found


def _places(corpus: Corpus) -> Ids:
    """Return where the passages begin that are looked for, from all over a set."""
    step = max(PASSAGE, len(corpus) // PASSAGES)
    return np.arange(0, max(0, len(corpus) - PASSAGE + 1), step)


def _known_passages(corpus: Corpus, wanted: Keys) -> Keys:
    """Return those of the wanted hashes that some passage of a corpus has."""
    found: list[Keys] = [np.empty(0, np.uint64)]
    step = max(STRETCH, int(STRETCH * len(corpus) / SEARCHED))
    for begin in range(0, len(corpus), step):
        part = hashes(corpus.read(begin, min(begin + STRETCH + PASSAGE - 1, len(corpus))))
        at = np.searchsorted(wanted, part).clip(max=len(wanted) - 1)
        found.append(part[wanted[at] == part])
    return np.unique(np.concatenate(found))


def hashes(ids: Ids) -> Keys:
    """Return a hash of every passage in a row of ids, each from the one before (Karp and Rabin, 1987)."""
    if len(ids) < PASSAGE:
        return np.empty(0, np.uint64)
    powers = np.cumprod(np.full(len(ids), BASE, np.uint64))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum((ids.astype(np.uint64) + np.uint64(1)) * powers)])
    passages = sums[PASSAGE:] - sums[:-PASSAGE]
    # A passage that begins k places further on has its sum multiplied by the base k times: that is undone.
    back = np.cumprod(np.full(len(passages), pow(int(BASE), -1, 2**64), np.uint64))
    return passages * back
