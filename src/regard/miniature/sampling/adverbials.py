"""Places, goals, times and other circumstances, drawn at random."""

from dataclasses import replace
from typing import Final

from regard.miniature.lexicon import Adverb, Noun, Preposition, Verb, lexicon
from regard.miniature.meaning import Ago, Clock, Lasting, NamedEntity, NounPhrase, PrepositionalPhrase, Tense, Time
from regard.miniature.sampling.choices import Draw, RandomChoice, among, names_of, nouns_of, pick
from regard.miniature.sampling.phrases import NAMES, Fullness, noun_phrase

_WORDS = lexicon()


def _adverbs(*kinds: str) -> RandomChoice[Adverb]:
    return among(adverb for adverb in _WORDS.adverbs.values() if adverb.kind in kinds)


def _prepositions(*kinds: str) -> RandomChoice[Preposition]:
    return among(preposition for preposition in _WORDS.prepositions if preposition.kind in kinds)


def _nouns(*german: str) -> RandomChoice[Noun]:
    return among(_WORDS.nouns[word] for word in german)


FREQUENCIES: Final = _adverbs("frequency")
FINISHED: Final = _adverbs("finished")
PAST_STANCES: Final = _adverbs("stance-first", "stance-comma", "stance-middle")
STANCES: Final = among(adverb for adverb in PAST_STANCES.items if adverb.german != "plötzlich")
_PLACES: Final = _adverbs("place")
_NAMED_PLACES: Final = RandomChoice({"town": 2, "country": 1})
_TIME_ADVERBS: Final = {kind: _adverbs(kind) for kind in ("past", "now", "future", "dated", "part", "habit")}
_STATIVE_TIMES: Final = {"present": _WORDS.adverbs["jetzt"], "past": _WORDS.adverbs["damals"]}
_MOOD_TIMES: Final[dict[str, RandomChoice[Adverb]]] = {
    "present": among(_WORDS.adverbs[word] for word in ("heute", "jetzt", "am Abend", "am Morgen", "im Moment")),
    "past": among(_WORDS.adverbs[word] for word in ("gestern", "damals", "gestern Abend", "am Morgen", "vorgestern")),
    "future": among(_WORDS.adverbs[word] for word in ("morgen", "bald", "am Abend")),
}
_TIMES: Final[dict[str, RandomChoice[str]]] = {
    "present": RandomChoice({"now": 40, "part": 32, "habit": 14, "clock": 8, "occasion": 8}),
    "past": RandomChoice({"past": 38, "part": 18, "dated": 14, "ago": 12, "lasting": 8, "clock": 6, "occasion": 8}),
    "future": RandomChoice({"future": 50, "dated": 22, "part": 12, "clock": 8, "occasion": 8}),
}
_OCCASIONS: Final = _prepositions("occasion")
_CAUSES: Final = _prepositions("cause")
_HINDRANCES: Final = _nouns("Regen", "Schnee", "Sturm", "Wind", "Nebel", "Problem", "Fehler", "Prüfung")
_AGO_UNITS: Final = _nouns("Tag", "Woche", "Monat", "Jahr", "Stunde", "Minute")
_LASTING_UNITS: Final = _nouns("Stunde", "Tag", "Minute", "Woche")
_COUNTS: Final = RandomChoice({count: 1 / count for count in range(1, 11)})
_IN_TOWN: Final = _WORDS.preposition("town")
_TO_TOWN: Final = _WORDS.preposition("destination")
_BY: Final = _WORDS.preposition("means")
_FOR: Final = _WORDS.preposition("benefit")
_COMPANIONS: Final = RandomChoice({_WORDS.preposition("company", "mit"): 4, _WORDS.preposition("company", "ohne"): 1})
_MEANS: Final = _nouns("Zug", "Bus", "Auto", "Fahrrad", "Schiff", "Taxi", "Straßenbahn", "Boot", "Motorrad")


def place(draw: Draw, fullness: Fullness) -> PrepositionalPhrase | Adverb:
    """Where something happens."""
    value = draw()
    if value < 0.3:
        return _PLACES(draw)
    if value < 0.38:
        return PrepositionalPhrase(_IN_TOWN, NamedEntity(names_of(_NAMED_PLACES(draw))(draw)))
    noun = nouns_of("site")(draw)
    return PrepositionalPhrase(noun.where[0], noun_phrase(draw, noun, "place", fullness, "singular"))


def position(draw: Draw, verb: Verb, noun: Noun, fullness: Fullness) -> PrepositionalPhrase | Adverb:
    """Where somebody or something lives, sits, stands or lies: in, on, behind ... a noun."""
    if "settlement" in noun.classes and draw() < 0.7:
        return PrepositionalPhrase(_IN_TOWN, NamedEntity(names_of(_NAMED_PLACES(draw))(draw)))
    if verb.german == "bleiben" and draw() < 0.2:
        return _WORDS.adverbs["zu Hause"]
    where = noun.where
    if verb.german in ("wohnen", "bleiben"):
        where = where[:1]  # in the place itself, not beside it
    elif verb.german == "stehen" and "building" in noun.classes:
        where = where[1:]  # cows and cars stand beside it, not in it
    elif verb.german == "sitzen" and "furniture" in noun.classes:
        where = (where[0], *(p for p in where if p.german == "neben"))
    preposition = pick(draw, where)
    return PrepositionalPhrase(preposition, noun_phrase(draw, noun, "place", fullness, "singular"))


def goal(draw: Draw, verb: Verb, noun: Noun, fullness: Fullness) -> PrepositionalPhrase | Adverb:
    """Where something goes."""
    if verb.frame == "motion":
        value = draw()
        if value < 0.1 and "site" in noun.classes:
            return _WORDS.adverbs["nach Hause"]
        if "far" in verb.facts and (value < 0.3 or "settlement" in noun.classes):
            town = NamedEntity(names_of(_NAMED_PLACES(draw))(draw))
            return PrepositionalPhrase(_TO_TOWN, town)
    assert noun.whither is not None
    return PrepositionalPhrase(noun.whither, noun_phrase(draw, noun, "place", fullness, "singular"))


def companion(draw: Draw, verb: Verb, fullness: Fullness) -> PrepositionalPhrase | None:
    """With whom, for whom or by what vehicle, as far as the verb allows one of them."""
    if "means" in verb.facts and draw() < 0.5:
        return PrepositionalPhrase(_BY, NounPhrase(_MEANS(draw)))
    if "benefit" in verb.facts:
        preposition = _FOR
    elif "company" in verb.facts:
        preposition = _COMPANIONS(draw)
    else:
        return None
    if draw() < 0.2:
        return PrepositionalPhrase(preposition, NamedEntity(names_of(NAMES(draw))(draw)))
    noun = nouns_of("kin", "fellow", "child")(draw)
    phrase = noun_phrase(draw, noun, "known", fullness)
    if phrase.determiner == "indefinite":
        phrase = replace(phrase, number="singular")  # "ohne Lehrer" could be one or many
    return PrepositionalPhrase(preposition, phrase)


def cause(draw: Draw, fullness: Fullness) -> PrepositionalPhrase:
    """Because of what, or despite what."""
    phrase = noun_phrase(draw, _HINDRANCES(draw), "place", fullness, "singular")
    definite = NounPhrase(phrase.noun, "definite", "singular", phrase.adjectives, phrase.degree)
    return PrepositionalPhrase(_CAUSES(draw), definite)


def time(draw: Draw, verb: Verb, tense: Tense, fullness: Fullness) -> Time | None:
    """When it happens, as tense and verb allow; None where no time is natural."""
    if tense in ("finished", "earlier"):
        return None
    period = tense if tense in ("present", "future") else "past"
    if "stative" in verb.facts:
        return _MOOD_TIMES[period](draw) if verb.frame == "copula" else _STATIVE_TIMES.get(period)
    if verb.frame == "content" or "morning" in verb.facts:
        return _TIME_ADVERBS[{"present": "now"}.get(period, period)](draw)
    kind = _TIMES[period](draw)
    if kind in _TIME_ADVERBS:
        return _TIME_ADVERBS[kind](draw)
    if kind == "clock":
        return Clock(1 + int(12 * draw()))
    if kind == "ago":
        return Ago(_COUNTS(draw), _AGO_UNITS(draw))
    if kind == "lasting":
        return Lasting(_COUNTS(draw), _LASTING_UNITS(draw)) if "durative" in verb.facts else None
    if verb.frame == "alone" and verb.german in ("beginnen", "enden", "stattfinden"):
        return None
    event = noun_phrase(draw, nouns_of("event")(draw), "place", fullness, "singular")
    return PrepositionalPhrase(_OCCASIONS(draw), event)
