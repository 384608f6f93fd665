"""Tags that do not fit the others: a slip of the pen must not turn spans into single words."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from regard.data.settings.examples import TagSource
from regard.errors import DataError
from regard.metrics.spans import OUTSIDE, marks_spans
from regard.progress import Progress

RARE = 20
"""A tag that differs from another by its case alone is a slip if that one is so many times as frequent."""
_ALIKE = str.maketrans({"0": "O", "_": "-", "–": "-", "—": "-", "О": "O", "Ο": "O", ":": "-", "/": "-"})
"""Characters that are taken for others: zero, Cyrillic and Greek letters, dashes and what stands for them."""


@dataclass
class TagsSeen:
    """How often each tag was read, and where for the first time."""

    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, str] = field(default_factory=dict)

    def add(self, tags: Iterable[str], where: str) -> None:
        """Take in the tags of one place."""
        for tag in tags:
            if tag not in self.places:
                self.places[tag] = where
            self.counts[tag] += 1


def check_tags(seen: TagsSeen, place: TagSource, progress: Progress) -> None:
    """Refuse tags that mark no span where most others do, and say which look like slips of others."""
    if place.scheme == "none":
        _warn_of_slips(seen, place, progress)
        return
    words = {tag: count for tag, count in seen.counts.items() if tag != OUTSIDE}
    marked = {tag for tag in words if marks_spans([tag])}
    strays = [tag for tag in words if tag not in marked]
    is_meant = place.scheme != "auto" or sum(words[tag] for tag in marked) > sum(words[tag] for tag in strays)
    if marked and strays and is_meant:
        tag = min(strays, key=lambda each: words[each])
        meant = _by_look({*marked, OUTSIDE}, seen).get(_look(tag))
        hint = f' (did you mean "{meant}"?)' if meant else ""
        more = f", as do {len(strays) - 1:,} other tags" if len(strays) > 1 else ""
        raise DataError(
            f'{place.name}: {seen.places[tag]} has the tag "{tag[:40]}", used {_times(words[tag])}, which marks no '
            f"span though most do{more}{hint}; mend it, or set the scheme of this set to none (such as "
            f"data.train.scheme=none) if each tag is one of its own."
        )
    _warn_of_slips(seen, place, progress)


def _warn_of_slips(seen: TagsSeen, place: TagSource, progress: Progress) -> None:
    usual = _by_look(seen.counts, seen)
    for tag, count in seen.counts.items():
        meant = usual[_look(tag)]
        if count * RARE <= seen.counts[meant]:
            progress.warn(
                f'{place.name}: {seen.places[tag]} has the tag "{tag[:40]}", used {_times(count)}; did you mean '
                f'"{meant[:40]}", used {_times(seen.counts[meant])}?'
            )


def _by_look(tags: Iterable[str], seen: TagsSeen) -> dict[str, str]:
    """Return the most frequent of the tags that look the same, by their look."""
    return {_look(tag): tag for tag in sorted(tags, key=lambda each: seen.counts[each])}


def _look(tag: str) -> str:
    return tag.upper().translate(_ALIKE).replace(" ", "")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
