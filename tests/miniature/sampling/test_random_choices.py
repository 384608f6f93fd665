"""Choices keep their weights, and words that are chosen together go together."""

from collections import Counter

import pytest

from regard.miniature.lexicon import lexicon
from regard.miniature.sampling.choices import (
    RandomChoice,
    adjectives_of,
    among,
    names_of,
    nouns_for,
    nouns_like,
    nouns_of,
    nouns_suiting,
    pick,
    verbs_of,
    verbs_with,
)

WORDS = lexicon()
EVEN = [(number + 0.5) / 3000 for number in range(3000)]


def test_items_are_drawn_by_their_weights():
    choice = RandomChoice({"a": 1, "b": 2, "c": 3})
    counts = Counter(choice(lambda value=value: value) for value in EVEN)
    assert counts == {"a": 500, "b": 1000, "c": 1500}
    assert choice(lambda: 0.0) == "a" and choice(lambda: 1 - 1e-16) == "c"


def test_the_first_item_is_twice_as_likely_as_the_last():
    items = list(range(30))
    choice = among([*items, *items])
    assert choice.items == tuple(items)
    for draws in ([choice(lambda value=value: value) for value in EVEN], [pick(lambda v=v: v, items) for v in EVEN]):
        counts = Counter(draws)
        assert all(counts[item] >= counts[item + 1] for item in items[:-1])
        assert counts[0] / counts[29] == pytest.approx(2, rel=0.1)


def test_words_go_together():
    for noun in WORDS.nouns.values():
        for rank in (None, 1, 2):
            choice = adjectives_of(noun, rank)
            expected = [each for each in WORDS.adjectives.values() if noun in each.fits and rank in (None, each.rank)]
            assert (choice.items if choice else ()) == tuple(expected)
    for verb in WORDS.verbs[:40]:
        assert verb in verbs_of(verb.frame).items and nouns_for(verb, "subject").items == verb.subjects
        if verb.subjects:
            assert verb in verbs_with(verb.subjects[0], "subject", verb.frame).items
    adjective = WORDS.adjectives["alt"]
    assert nouns_suiting(adjective).items == adjective.fits
    man = WORDS.nouns["Mann"]
    assert man not in nouns_like(adjective, man).items
    assert all("adult" in noun.classes for noun in nouns_like(adjective, man).items)


def test_what_does_not_exist_is_no_choice():
    stone = next(noun for noun in WORDS.nouns.values() if "living" not in noun.classes)
    assert verbs_with(stone, "subject", "content") is None
    assert all(name.kind == "town" for name in names_of("town").items)
    assert all(noun.classes & {"animal", "plant"} for noun in nouns_of("animal", "plant").items)
