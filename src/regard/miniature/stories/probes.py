"""Story probes: a right and a wrong continuation that only the context distinguishes."""

from collections.abc import Iterator
from itertools import cycle, islice
from typing import Final, NamedTuple, get_args

from regard.errors import DataError
from regard.miniature.english import in_english
from regard.miniature.holdout import stable_fraction
from regard.miniature.splits import SPLITS
from regard.miniature.stories.scene import Kind
from regard.miniature.stories.telling import Story, stories

PROBE_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


class StoryProbe(NamedTuple):
    """The beginning of a story and two ways to go on, of which only the first agrees with it.

    `prefix + right` is the beginning of the document: both continuations begin with their space.
    """

    kind: Kind
    prefix: str
    right: str
    wrong: str

    @property
    def label(self) -> int:
        """Which of the choices is right, by a hash."""
        return int(stable_fraction(self.prefix + self.right + self.wrong) * 2)

    @property
    def choices(self) -> tuple[str, str]:
        """Both continuations without their spaces, the right one first or second."""
        texts = self.right.strip(), self.wrong.strip()
        return texts[::-1] if self.label else texts


def probes_of(one: Story) -> list[StoryProbe]:
    """Every probe that a story offers, in the order of its sentences."""
    found = []
    prefix, space = one.title, "\n"
    for sentence in one.told:
        right = space + in_english(sentence.meaning)
        for kind, meaning in sentence.contrasts:
            found.append(StoryProbe(kind, prefix, right, space + in_english(meaning)))
        prefix, space = prefix + right, " "
    return found


def story_probes(split: str, count: int | None = None, seed: int = 0) -> Iterator[StoryProbe]:
    """Probes of every kind in turn, at most one of a story: as many as asked for, or as the split has by default."""
    found = _probes(stories(split, seed))
    if count is None:
        count = SPLITS[split].size
    if count < 1:
        raise DataError(f"count: {count} is too few; ask {split} for 1 probe or more.")
    return islice(found, count)


def _probes(found: Iterator[Story]) -> Iterator[StoryProbe]:
    for kind in cycle(PROBE_KINDS):
        for one in found:
            fitting = [probe for probe in probes_of(one) if probe.kind == kind]
            if fitting:
                yield fitting[int(stable_fraction(one.text) * len(fitting))]
                break
