"""Each German sentence has exactly one English one."""

import random
from itertools import islice

import pytest

from regard.miniature import in_english, in_german, sentences
from regard.miniature.holdout import novelty
from regard.miniature.lexicon import Adjective, Name, Noun, Verb
from regard.miniature.sampling import sample
from regard.miniature.sampling.choices import RandomChoice, pick

SAMPLES = [
    ("train", 1, 45_000),
    ("train", 2, 37_500),
    ("unseen-depth", 1, 5_000),
    ("unseen-depth", 2, 3_000),
    ("unseen-pairs", 1, 300),
    ("unseen-cases", 1, 400),
    ("valid", 1, 200),
    ("test", 1, 200),
]


@pytest.mark.parametrize(("part", "least"), [(20, 60_000), pytest.param(1, 150_000, marks=pytest.mark.slow)])
def test_no_german_sentence_has_two_translations(part, least, training):
    english = {sentence.german: sentence.english for sentence in training}
    total = len(training)
    for split, seed, count in SAMPLES:
        total += count // part
        for sentence in islice(sentences(split, seed), count // part):
            assert english.setdefault(sentence.german, sentence.english) == sentence.english
    assert total >= least
    assert len(english) > 0.95 * total  # otherwise the sample says little


FEW = {"Frau", "Kind", "sehen", "schlafen", "sagen", "alt"}


@pytest.mark.parametrize(("seed", "level", "count"), [(0, 0, 6_000), (1, 1, 12_000), (2, 1, 12_000)])
def test_a_world_of_few_words_has_no_ambiguity_either(seed, level, count, monkeypatch):
    # With so few words, what differs is grammar alone, and the same sentence comes up again and again: a
    # construction that could be taken in two ways would show, as "die Frau, die das Kind sieht" does when the
    # sampler is allowed to mean the woman whom the child sees.
    only = random.Random(seed)
    kept = {}
    choose = RandomChoice.__call__

    def choose_from_few(choice, draw):
        if not isinstance(choice.items[0], Noun | Verb | Adjective | Name):
            return choose(choice, draw)
        if id(choice) not in kept:
            kept[id(choice)] = [item for item in choice.items if item.german in FEW] or [only.choice(choice.items)]
        return pick(draw, kept[id(choice)])

    monkeypatch.setattr(RandomChoice, "__call__", choose_from_few)
    draw = random.Random(f"few words {seed}").random
    english, novelties = {}, {}
    repeated = 0
    for _ in range(count):
        meaning = sample(draw, level)
        german, told = in_german(meaning), in_english(meaning)
        repeated += german in english
        assert english.setdefault(german, told) == told, german
        # The English sentence alone decides what is new in it, so no split can share a side with another.
        assert novelties.setdefault(told, novelty(meaning)) == novelty(meaning), told
    assert repeated > 100
