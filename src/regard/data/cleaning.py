"""Pairs that teach nothing are left out, and every one is counted by its reason."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from regard.data.settings.pairs import CleaningSettings
from regard.data.sources.pair import Pair
from regard.errors import DataError

FORGIVEN = 20
"""Characters by which a side may always be longer: short sentences have wild ratios."""


@dataclass
class CleaningReport:
    """How many pairs were read, and how many were left out for which reason."""

    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    carved: int = 0
    """Pairs set apart for validation."""

    @property
    def kept(self) -> int:
        """How many pairs remain."""
        return self.read - self.dropped.total() - self.carved

    def sentence(self) -> str:
        """Say it in one sentence."""
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.dropped.most_common())
        carved = f"; {self.carved:,} set apart for validation" if self.carved else ""
        return f"{self.kept:,} of {self.read:,} pairs kept; dropped: {reasons or 'none'}{carved}."


def clean(pairs: Iterable[Pair], settings: CleaningSettings, report: CleaningReport) -> list[Pair]:
    """Return the pairs worth learning from, stripped of outer white space."""
    kept: list[Pair] = []
    seen: set[Pair] = set()
    for raw in pairs:
        report.read += 1
        pair = Pair(raw.source.strip(), raw.target.strip())
        reason = reason_to_drop(pair, settings) or ("duplicate" if pair in seen else None)
        if reason:
            report.dropped[reason] += 1
            continue
        if settings.drop_duplicates:
            seen.add(pair)
        kept.append(pair)
    return kept


def reason_to_drop(pair: Pair, settings: CleaningSettings) -> str | None:
    """Return why a stripped pair is not worth learning from, if it is not."""
    shorter, longer = sorted((len(pair.source), len(pair.target)))
    if shorter == 0:
        return "empty"
    if longer > settings.max_ratio * shorter + FORGIVEN:
        return "absurd length ratio"
    if settings.drop_copies and pair.source == pair.target:
        return "the same on both sides"
    return None


def drop_held_out(pairs: Sequence[Pair], held_out: Iterable[Pair], report: CleaningReport) -> list[Pair]:
    """Return the pairs whose source is not among the held-out ones."""
    sources = {pair.source.strip() for pair in held_out}
    kept = [pair for pair in pairs if pair.source not in sources]
    if len(kept) < len(pairs):
        report.dropped["held out"] += len(pairs) - len(kept)
    return kept


FEWEST = 50
"""Validation pairs carved out at least, unless that is more than a tenth: fewer would be a matter of luck."""


E = TypeVar("E")


def carve_validation(pairs: Sequence[Pair], share: float, most: int = 2000) -> tuple[list[Pair], list[Pair]]:
    """Return (training, validation) pairs; which is which depends on each source text alone."""
    return hold_out(pairs, share, lambda pair: pair.source, most)


def hold_out(
    examples: Sequence[E],
    share: float,
    key: Callable[[E], str],
    most: int = 2000,
    what: str = "pair",
    origin: str = "",
) -> tuple[list[E], list[E]]:
    """Return (training, validation) examples; which is which depends on the text of its key alone.

    Being chosen by a hash, an example stays on its side when the file is shuffled or (until `most` is reached)
    grows, and examples with the same text never straddle the line. `most` holds on average. `origin` is where they
    come from, for messages.
    """
    if not examples:
        raise DataError(f"{origin}{': there' if origin else 'There'} are no {what}s to learn from; add some.")
    marks = {text: _mark(text) for text in map(key, examples)}
    limit = min(max(share, min(0.1, FEWEST / len(examples))), most / len(examples))
    chosen = {text for text, mark in marks.items() if mark < limit}
    if not chosen or len(chosen) == len(marks) > 1:  # a handful of examples: the lowest mark stands in
        chosen = {min(marks, key=lambda text: marks[text])}
    train = [example for example in examples if key(example) not in chosen]
    if not train and len(examples) > 1:
        raise DataError(
            f"{origin}{': all' if origin else 'All'} {len(examples):,} training {what}s have the same "
            f"{'text' if origin else 'source'}, so that none can be set apart for validation; add others."
        )
    if not train:
        raise DataError(
            f"{origin}{': only' if origin else 'Only'} {len(examples)} usable training "
            f"{what}{'s' if len(examples) != 1 else ''}: too few to learn from and to keep some for validation; add "
            f"text."
        )
    return train, [example for example in examples if key(example) in chosen]


def _mark(text: str) -> float:
    """Return a number in [0, 1) that depends on the text alone."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest()) / 2**56
