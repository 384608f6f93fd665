"""Stories of the miniature world, each determined by its number, disjoint between splits."""

from collections.abc import Iterator
from itertools import count as numbers
from itertools import islice
from random import Random
from typing import Final, NamedTuple

from regard.errors import DataError
from regard.miniature.english import in_english
from regard.miniature.english.phrases import nominal
from regard.miniature.holdout import stable_fraction
from regard.miniature.splits import SPLITS
from regard.miniature.stories.cast import StoryTheme, draw_plan, draw_theme
from regard.miniature.stories.plots import PLOTS
from regard.miniature.stories.scene import Scene, Told

STORY_SPLITS: Final = ("train", "valid", "test")
MOST_SENTENCES: Final = 12


class Story(NamedTuple):
    """A title and sentences in their order, each with its meaning; `theme` is whom and what it is about."""

    theme: StoryTheme
    title: str
    told: tuple[Told, ...]
    plot: str
    """What happens, by the name of its plot."""

    @property
    def sentences(self) -> list[str]:
        """The sentences in English."""
        return [in_english(sentence.meaning) for sentence in self.told]

    @property
    def text(self) -> str:
        """The story as a document: its title on a line of its own, then its sentences."""
        return f"{self.title}\n{' '.join(self.sentences)}"


def story(split: str, number: int, seed: int = 0) -> Story:
    """The story of this number, whatever others are made."""
    low, high = _share(split)
    draw = Random(f"{seed}:{split}:story {number}").random
    while True:
        # The split follows from whom and what a story is about, so two splits cannot even hold variants of one.
        theme = draw_theme(draw)
        if low <= stable_fraction(" ".join(word.english for word in theme)) < high:
            break
    plot = PLOTS(draw)
    spare = int(draw() * (MOST_SENTENCES - plot.length + 1))
    scene = Scene(draw, draw_plan(draw, theme), spare)
    plot.tell(scene)
    title = nominal(plot.title(scene))
    return Story(theme, title[0].upper() + title[1:], tuple(scene.told), plot.name)


def _share(split: str) -> tuple[float, float]:
    if split not in STORY_SPLITS:
        raise DataError(f'split: "{split}" is not one of {", ".join(STORY_SPLITS)}, which have stories.')
    return SPLITS[split].share


def stories(split: str, seed: int = 0) -> Iterator[Story]:
    """Stories of a split without end, always the same for the same seed."""
    _share(split)
    return (story(split, number, seed) for number in numbers())


def documents(split: str, count: int | None = None, seed: int = 0) -> Iterator[str]:
    """The first stories of a split as texts: as many as asked for, or as many as the split has by default."""
    found = stories(split, seed)
    if count is None:
        count = SPLITS[split].size
    if count < 1:
        raise DataError(f"count: {count} is too few; ask {split} for 1 story or more.")
    return (one.text for one in islice(found, count))
