"""Checks of running text: unknown tokens, tokens per word, rare tokens, and residues of markup."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from regard.data.corpus.corpus import Corpus, Ids
from regard.data.settings.text import TextSource
from regard.data.sources.text_files import find_inputs
from regard.tasks.checks.tokenizers import RESIDUES, few, rare_token_finding, spelling_remedy, tokens_per_word_finding
from regard.tasks.data import TextTaskData
from regard.tasks.findings import Finding, graded, percent, shown, some

COUNTED = 8_000_000
"""Maximum number of tokens that are counted: evenly spread stretches of a longer text."""
STRETCH = 2**16
FILES, BYTES = 100, 4 * 2**20
"""Maximum number of files, and of bytes in all of them, that are searched for residues."""
AROUND = 12
"""Tokens shown on either side of an unknown one."""


def running_text_findings(data: TextTaskData) -> list[Finding]:
    """Return the findings on the text and its tokenizer."""
    corpus, text = data.corpora.train, data.settings.text
    counts, tokens = corpus.counts, len(corpus) - corpus.counts.documents  # each document ends with EOS
    ids = np.concatenate(list(stretches(corpus, COUNTED)))
    occurrences = np.bincount(ids, minlength=data.tokenizer.size)
    return [
        *_unknown(data, ids),
        *_residues(data.settings.data.train),
        tokens_per_word_finding("", max(1, tokens), counts.words, (counts.bytes, "byte"), text),
        rare_token_finding(occurrences, data.tokenizer, "", text, len(ids) / len(corpus)),
    ]


def stretches(corpus: Corpus, most: int) -> Iterator[Ids]:
    """Yield all tokens of a corpus, or about `most` of them in evenly spread stretches."""
    step = max(STRETCH, int(STRETCH * len(corpus) / most))
    for begin in range(0, len(corpus), step):
        yield corpus.read(begin, min(begin + STRETCH, len(corpus)))


def _unknown(data: TextTaskData, ids: Ids) -> list[Finding]:
    tokenizer = data.tokenizer
    if tokenizer.unk_id == tokenizer.eos_id:  # GPT-2 has one token for both, and bytes for every text
        return []
    sets = {"training set": ids}
    sets |= {title: next(stretches(corpus, STRETCH)) for title, corpus in data.held_out.items()}
    fractions = {title: float(np.mean(each == tokenizer.unk_id)) for title, each in sets.items()}
    worst = max(fractions, key=lambda title: fractions[title])
    if fractions[worst] == 0:
        return [Finding("text", "unknown-tokens", "ok", "The tokenizer can encode every text.")]
    positions = np.flatnonzero(sets[worst] == tokenizer.unk_id).tolist()
    around = (sets[worst][max(0, position - AROUND) : position + AROUND].tolist() for position in positions)
    return [
        Finding(
            "text",
            "unknown-tokens",
            graded(fractions[worst], note=0.0, warning=1e-3, problem=0.1),
            f"{percent(fractions[worst], 1)} of the tokens of the {worst} are unknown, so their meaning is lost.",
            some(shown(tokenizer.decode(each)) for each in around),
            *spelling_remedy(data.settings.text),
            metrics={f"{title} fraction": value for title, value in fractions.items()},
        )
    ]


def _residues(source: TextSource) -> list[Finding]:
    """Return the residues of markup in the beginnings of files."""
    lines: list[str] = []
    kinds: set[str] = set()
    words = count = 0
    for text in beginnings(source):
        residues = RESIDUES.findall(text)
        words, count = words + len(text.split()), count + len(residues)
        kinds.update(residues)
        lines += [line for line in text.splitlines() if RESIDUES.search(line)][:1] if residues else []
    if not count:
        return []
    rate = 1000 * count / max(1, words)
    return [
        Finding(
            "text",
            "residues",
            graded(rate, note=0.0, warning=5.0),
            f"{count:,} of {words:,} words searched are residues of another format: {few(sorted(kinds))}.",
            some(map(shown, lines)),
            "convert the files again, or replace them",
            metrics={"count": count, "per_thousand_words": rate},
        )
    ]


def beginnings(source: TextSource) -> Iterator[str]:
    """Yield chunks from the beginnings of some files of a source."""
    inputs = find_inputs(source)
    chosen = inputs[:: -(-len(inputs) // FILES)]
    for each in chosen:
        left = BYTES // len(chosen)
        for chunk in islice(each.pieces(), source.max_rows):
            yield chunk.text
            left -= len(chunk.text)
            if left <= 0:
                break
