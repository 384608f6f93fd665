"""Sampling of the adverbials of a clause: time, frequency, manner, company, place and cause."""

from typing import Final

from regard.miniature.lexicon import Adverb, Verb, lexicon
from regard.miniature.meaning import Nominal, NounPhrase, Quality, Tense
from regard.miniature.sampling.adverbials import FREQUENCIES, PAST_STANCES, STANCES, cause, companion, place, time
from regard.miniature.sampling.choices import Draw, pick
from regard.miniature.sampling.setting import Parts, Setting, actor_of, period_of

_WORDS = lexicon()
_AGAIN: Final = _WORDS.adverbs["wieder"]
# Qualities that come and go, so that it makes sense to say when and how often.
_MOODS: Final = frozenset(
    _WORDS.adjectives[word]
    for word in (
        "müde",
        "krank",
        "glücklich",
        "traurig",
        "hungrig",
        "wütend",
        "fröhlich",
        "ruhig",
        "leise",
        "laut",
    )
)


def add_circumstances(draw: Draw, parts: Parts, setting: Setting) -> None:
    """Add one or two circumstances that suit the verb, its tense and each other."""
    is_negated = parts.get("is_negated", False)
    if setting.is_main and not is_negated and draw() < 0.065 and parts["tense"] != "finished":
        parts["stance"] = (PAST_STANCES if period_of(parts["tense"]) == "past" else STANCES)(draw)
    if parts["verb"].frame == "copula":
        _add_to_quality(draw, parts, setting)
        return
    room = 2 if setting.richness >= 1 else 1
    room -= _add_time(draw, parts, setting)
    if setting.is_plain:
        return
    if is_negated:
        _add_place(draw, parts, setting, room)
        return
    room -= _add_frequency(draw, parts, setting)
    room -= _add_manner(draw, parts, setting, room)
    room -= _add_company(draw, parts, setting, room)
    room -= _add_place(draw, parts, setting, room)
    _add_cause(draw, parts, setting, room)


def is_state(verb: Verb) -> bool:
    """Whether a verb says how things are, not what happens."""
    return "stative" in verb.facts or verb.frame == "exist"


def is_liking(parts: Parts) -> bool:
    """Whether the clause says what somebody likes to do."""
    modal = parts.get("modal")
    return modal is not None and modal.german == "gern"


def is_open(subject: Nominal | None) -> bool:
    """Whether a clause about this subject may be negated or say `never` without a second reading."""
    closed = ("no", "each", "many", "some", "indefinite")
    return not (isinstance(subject, NounPhrase) and subject.determiner in closed)


def _add_time(draw: Draw, parts: Parts, setting: Setting) -> bool:
    verb: Verb = parts["verb"]
    if not setting.has_time or (is_liking(parts) and parts["tense"] == "present"):
        return False
    if draw() >= (0.6 if verb.frame == "weather" else 0.34) * setting.richness:
        return False
    tense: Tense = parts["tense"]
    if parts.get("modal") and not is_liking(parts) and tense == "present":
        tense = "future"  # what one must or may do is still to come
    found = time(draw, verb, tense, setting.fullness)
    if isinstance(found, Adverb) and found.kind == "habit" and parts.get("is_negated"):
        return False  # "not every day" is not "every day not"
    parts["time"] = found
    return True


def _add_frequency(draw: Draw, parts: Parts, setting: Setting) -> bool:
    is_fixed = parts.get("time") or parts.get("frequency") or parts.get("modal") or parts.get("is_passive")
    if is_fixed or is_state(parts["verb"]) or parts["tense"] not in ("present", "narrated"):
        return False
    if draw() >= 0.1 * setting.richness or not is_open(parts.get("subject")):
        return False
    parts["frequency"] = FREQUENCIES(draw)
    return True


def _add_manner(draw: Draw, parts: Parts, setting: Setting, room: int) -> bool:
    verb: Verb = parts["verb"]
    if room < 1 or is_liking(parts) or parts.get("is_passive"):
        return False
    if verb.manners and draw() < 0.16 * setting.richness:
        parts["manner"] = pick(draw, verb.manners)
    elif not is_state(verb) and draw() < 0.02:
        parts["manner"] = _AGAIN
    return "manner" in parts


def _add_company(draw: Draw, parts: Parts, setting: Setting, room: int) -> bool:
    manner = parts.get("manner")
    if room < 1 or draw() >= 0.16 * setting.richness or (manner and manner.german == "allein"):
        return False
    if company := companion(draw, parts["verb"], setting.fullness):
        parts["company"] = company
    return company is not None


def _add_place(draw: Draw, parts: Parts, setting: Setting, room: int) -> bool:
    verb: Verb = parts["verb"]
    if room < 1 or "place" not in verb.facts or draw() >= 0.3 * setting.richness:
        return False
    if verb.frame == "about" and parts.get("is_negated"):
        return False  # it would not be clear which of the two is denied
    parts["place"] = place(draw, setting.fullness)
    return True


def _add_cause(draw: Draw, parts: Parts, setting: Setting, room: int) -> None:
    verb: Verb = parts["verb"]
    actor = actor_of(parts.get("subject"), setting.head)
    is_deed = actor is not None and "living" in actor.classes and not is_state(verb) and verb.frame != "content"
    if room > 0 and is_deed and setting.has_time and not parts.get("modal") and draw() < 0.035 * setting.richness:
        parts["cause"] = cause(draw, setting.fullness)


def _add_to_quality(draw: Draw, parts: Parts, setting: Setting) -> None:
    predicate = parts["predicate"]
    actor = actor_of(parts.get("subject"), setting.head)
    is_mood = isinstance(predicate, Quality) and not predicate.comparison and predicate.adjective in _MOODS
    if not is_mood or actor is None or "living" not in actor.classes or parts.get("is_negated"):
        return
    if setting.has_time and draw() < 0.16 * setting.richness:
        parts["time"] = time(draw, parts["verb"], parts["tense"], setting.fullness)
    elif parts["tense"] != "future" and is_open(parts["subject"]) and draw() < 0.12 * setting.richness:
        parts["frequency"] = FREQUENCIES(draw)
