"""A source of the miniature world is a split, or a set and a split of it."""

import pytest

from regard.errors import DataError
from regard.miniature.places import TEXT_SETS, place, texts
from regard.miniature.stories.telling import documents


def test_texts_of_every_set_can_be_read():
    for name in TEXT_SETS:
        found = list(texts(f"{name}/valid", 20))
        assert len(found) == 20 and all(found)
    assert list(texts("valid", 3)) == list(documents("valid", 3))
    mixed = set(texts("mixed/train", 300))
    for name in ("stories", "reviews", "news", "senses", "retellings"):
        assert mixed & set(texts(f"{name}/train", 20)), name


def test_an_unknown_set_is_refused_with_those_there_are():
    with pytest.raises(DataError) as raised:
        place("poems/train", ("plots", "reviews"))
    assert str(raised.value) == (
        'miniature:poems/train: "poems" is not one of plots, reviews, the sets of the miniature world for this task; '
        "write miniature:SET/SPLIT, or miniature:SPLIT for plots."
    )
    assert place("train", ("plots", "reviews")) == ("plots", "train")
    assert place("reviews/test", ("plots", "reviews")) == ("reviews", "test")
