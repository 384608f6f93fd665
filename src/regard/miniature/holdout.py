"""Held-out compositions: word pairs, and nouns in one of their cases, that training never shows."""

from collections import Counter, defaultdict
from functools import cache
from hashlib import blake2b
from typing import Final, NamedTuple

from regard.miniature.lexicon import Case, Noun, lexicon
from regard.miniature.meaning import Meaning
from regard.miniature.measures import NounCase, WordPair, cases_in, pairs_in, parts_of

PAIR_SHARE: Final = 0.055
# No word loses more than this share of its partners, so every word of a held-out pair stays common.
_MOST: Final = 0.16
_COMMON: Final = 0.28
_WITH_OBJECT: Final = frozenset({"object", "dative", "recipient", "put"})

# How many nouns lose each case, and the classes they are taken from: those that often stand in it.
_CASES: Final[dict[Case, tuple[int, frozenset[str]]]] = {
    "nominative": (8, frozenset({"person", "animal"})),
    "accusative": (8, frozenset({"person", "animal", "site", "furniture"})),
    "dative": (8, frozenset({"person", "site", "vehicle"})),
    "genitive": (6, frozenset({"person"})),
}


def stable_fraction(text: str) -> float:
    """A number in [0, 1) that depends on the text alone, on every machine."""
    return int.from_bytes(blake2b(text.encode(), digest_size=6).digest(), "big") / 2**48


def possible_pairs() -> dict[WordPair, tuple[str, str, str]]:
    """Every pair that the lexicon allows, with its key: the relation and both words in English."""
    pairs = {}
    for verb in lexicon().verbs:
        if verb.frame in _WITH_OBJECT:
            for noun in verb.objects:
                pairs[WordPair("object", verb.german, noun.german)] = ("object", verb.english, noun.english)
    for adjective in lexicon().adjectives.values():
        for noun in adjective.fits:
            pair = WordPair("quality", adjective.german, noun.german)
            pairs[pair] = ("quality", adjective.english, noun.english)
    return pairs


@cache
def held_out_pairs() -> frozenset[WordPair]:
    """The pairs of words kept out of training, chosen in English so that German twins go together."""
    # A noun that loses a case must not lose words as well, and a rare one loses nothing.
    whole = set(lexicon().nouns) - {held_out.noun for held_out in held_out_cases()}
    exposure = _exposure()
    possible = {
        pair: key
        for pair, key in possible_pairs().items()
        if pair.noun in whole and exposure[pair.relation, pair.noun] >= _COMMON
    }
    keys = set(possible.values())
    partners = Counter((key[0], side, key[side]) for key in keys for side in (1, 2))
    lost: Counter[tuple[str, int, str]] = Counter()
    chosen = set()
    ranked = sorted((stable_fraction(" ".join(key)), key) for key in keys)
    for _, key in ranked[: int(PAIR_SHARE * len(keys))]:
        words = [(key[0], side, key[side]) for side in (1, 2)]
        if all(lost[word] + 1 <= _MOST * partners[word] for word in words):
            lost.update(words)
            chosen.add(key)
    return frozenset(pair for pair, key in possible.items() if key in chosen)


def _exposure() -> dict[tuple[str, str], float]:
    """How often a noun is met as an object, and at all, if every verb chose its nouns evenly."""
    exposure: dict[tuple[str, str], float] = defaultdict(float)
    for verb in lexicon().verbs:
        for nouns in (verb.subjects, verb.objects, verb.targets):
            for noun in nouns:
                exposure["quality", noun.german] += 1 / len(nouns)
        if verb.frame in _WITH_OBJECT:
            for noun in verb.objects:
                exposure["object", noun.german] += 1 / len(verb.objects)
    return exposure


@cache
def held_out_cases() -> frozenset[NounCase]:
    """The nouns that lose one case each."""
    nouns = sorted(lexicon().nouns.values(), key=lambda noun: stable_fraction(f"case {noun.german}"))
    uses = Counter(noun.english for noun in nouns)
    fixed = {word for adverb in lexicon().adverbs.values() for word in adverb.german.split()}
    # A noun with an English twin would give its cases away in English; one in a fixed phrase, in German.
    # And the first words that anybody types keep all their cases.
    free = [
        noun for noun in nouns if uses[noun.english] == 1 and "basic" not in noun.classes and noun.german not in fixed
    ]
    chosen: dict[Noun, Case] = {}
    for case, (count, classes) in _CASES.items():
        fitting = [noun for noun in free if noun not in chosen and not noun.classes.isdisjoint(classes)]
        chosen |= dict.fromkeys(fitting[:count], case)
    return frozenset(NounCase(noun.german, case) for noun, case in chosen.items())


class Novelty(NamedTuple):
    """Whether a meaning holds something that is kept out of training."""

    has_new_pair: bool
    has_new_case: bool


def novelty(meaning: Meaning) -> Novelty:
    """What of a meaning training never shows."""
    parts = parts_of(meaning)
    return Novelty(not held_out_pairs().isdisjoint(pairs_in(parts)), not held_out_cases().isdisjoint(cases_in(parts)))
