"""Cleaning: pairs that fail a filter are dropped and counted by reason."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from regard.data.settings.pairs import CleaningSettings
from regard.data.sources.pair import Pair
from regard.errors import DataError

FORGIVEN = 20
"""Length difference in characters that is always allowed: short sentences have extreme ratios."""


@dataclass
class CleaningReport:
    """The number of pairs read, dropped (by reason) and held out."""

    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    held_out: int = 0
    """Pairs held out for validation."""

    @property
    def kept(self) -> int:
        """The number of pairs that remain."""
        return self.read - self.dropped.total() - self.held_out

    def sentence(self) -> str:
        """Return the report as one sentence."""
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.dropped.most_common())
        held_out = f"; {self.held_out:,} held out for validation" if self.held_out else ""
        return f"{self.kept:,} of {self.read:,} pairs kept; dropped: {reasons or 'none'}{held_out}."


def clean(pairs: Iterable[Pair], settings: CleaningSettings, report: CleaningReport) -> list[Pair]:
    """Return the pairs that pass all filters, stripped of surrounding white space."""
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
    """Return the reason to drop a stripped pair; None if it passes all filters."""
    shorter, longer = sorted((len(pair.source), len(pair.target)))
    if shorter == 0:
        return "empty"
    if longer > settings.max_ratio * shorter + FORGIVEN:
        return "absurd length ratio"
    if settings.drop_copies and pair.source == pair.target:
        return "the same on both sides"
    return None


def drop_held_out(pairs: Sequence[Pair], held_out: Iterable[Pair], report: CleaningReport) -> list[Pair]:
    """Return the pairs whose source text is not among the held-out pairs."""
    sources = {pair.source.strip() for pair in held_out}
    kept = [pair for pair in pairs if pair.source not in sources]
    if len(kept) < len(pairs):
        report.dropped["held out"] += len(pairs) - len(kept)
    return kept


FEWEST = 50
"""Minimum number of validation pairs, unless that exceeds a tenth of all: fewer give noisy scores."""


E = TypeVar("E")


def hold_out_pairs(pairs: Sequence[Pair], fraction: float, most: int = 2000) -> tuple[list[Pair], list[Pair]]:
    """Return (training, validation) pairs, split by a hash of the source text."""
    return hold_out(pairs, fraction, lambda pair: pair.source, most)


def hold_out(
    examples: Sequence[E],
    fraction: float,
    key: Callable[[E], str],
    most: int = 2000,
    what: str = "pair",
    origin: str = "",
) -> tuple[list[E], list[E]]:
    """Return (training, validation) examples, split by a hash of the key's text.

    The hash keeps an example in its split when the file is shuffled or (until `most` is reached) grows, and
    examples with equal texts in the same split. `most` bounds the expected number of validation examples.
    `origin` names the source of the examples in messages.
    """
    if not examples:
        raise DataError(f"{origin}{': there' if origin else 'There'} are no {what}s to learn from; add some.")
    hashes = {text: _hash_fraction(text) for text in map(key, examples)}
    limit = min(max(fraction, min(0.1, FEWEST / len(examples))), most / len(examples))
    chosen = {text for text, value in hashes.items() if value < limit}
    if not chosen or len(chosen) == len(hashes) > 1:  # very few examples: take the lowest hash
        chosen = {min(hashes, key=lambda text: hashes[text])}
    train = [example for example in examples if key(example) not in chosen]
    if not train and len(examples) > 1:
        raise DataError(
            f"{origin}{': all' if origin else 'All'} {len(examples):,} training {what}s have the same "
            f"{'text' if origin else 'source'}, so none can be held out for validation; add others."
        )
    if not train:
        raise DataError(
            f"{origin}{': only' if origin else 'Only'} {len(examples)} usable training "
            f"{what}{'s' if len(examples) != 1 else ''}: too few to train on and hold some out for validation; add "
            f"text."
        )
    return train, [example for example in examples if key(example) in chosen]


def _hash_fraction(text: str) -> float:
    """Return the text's hash as a number in [0, 1)."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest()) / 2**56
