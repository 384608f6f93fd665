"""Validation of tags: a typo must not turn spans into single words."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from regard.data.settings.examples import TagSource
from regard.errors import DataError
from regard.metrics.spans import OUTSIDE, marks_spans
from regard.progress import Progress

RARE = 20
"""A tag is a likely typo of a similar one that is at least this many times as frequent."""
_ALIKE = str.maketrans({"0": "O", "_": "-", "–": "-", "—": "-", "О": "O", "Ο": "O", ":": "-", "/": "-"})
"""Characters mistaken for others: zero, Cyrillic and Greek O, dashes and separators."""


@dataclass
class TagsSeen:
    """Counts of tags, and the line where each was first seen."""

    counts: Counter[str] = field(default_factory=Counter)
    first_seen: dict[str, str] = field(default_factory=dict)

    def add(self, tags: Iterable[str], where: str) -> None:
        """Count the tags of one line or record."""
        for tag in tags:
            if tag not in self.first_seen:
                self.first_seen[tag] = where
            self.counts[tag] += 1


def check_tags(seen: TagsSeen, source: TagSource, progress: Progress) -> None:
    """Refuse tags that mark no span where most others do, and warn of likely typos."""
    if source.scheme == "none":
        _warn_of_typos(seen, source, progress)
        return
    words = {tag: count for tag, count in seen.counts.items() if tag != OUTSIDE}
    marked = {tag for tag in words if marks_spans([tag])}
    strays = [tag for tag in words if tag not in marked]
    is_meant = source.scheme != "auto" or sum(words[tag] for tag in marked) > sum(words[tag] for tag in strays)
    if marked and strays and is_meant:
        tag = min(strays, key=lambda each: words[each])
        meant = _by_look({*marked, OUTSIDE}, seen).get(_look(tag))
        hint = f' (did you mean "{meant}"?)' if meant else ""
        more = f", as do {len(strays) - 1:,} other tags" if len(strays) > 1 else ""
        raise DataError(
            f'{source.name}: {seen.first_seen[tag]} has the tag "{tag[:40]}", used {_times(words[tag])}, which marks '
            f"no span though most do{more}{hint}; fix it, or set the scheme of this set to none (such as "
            f"data.train.scheme=none) if tags mark no spans."
        )
    _warn_of_typos(seen, source, progress)


def _warn_of_typos(seen: TagsSeen, source: TagSource, progress: Progress) -> None:
    frequent = _by_look(seen.counts, seen)
    for tag, count in seen.counts.items():
        meant = frequent[_look(tag)]
        if count * RARE <= seen.counts[meant]:
            progress.warn(
                f'{source.name}: {seen.first_seen[tag]} has the tag "{tag[:40]}", used {_times(count)}; did you mean '
                f'"{meant[:40]}", used {_times(seen.counts[meant])}?'
            )


def _by_look(tags: Iterable[str], seen: TagsSeen) -> dict[str, str]:
    """Return the most frequent of the tags that look alike, by their normalized form."""
    return {_look(tag): tag for tag in sorted(tags, key=lambda each: seen.counts[each])}


def _look(tag: str) -> str:
    return tag.upper().translate(_ALIKE).replace(" ", "")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
