"""Simple clauses, drawn at random: tense, modality, negation and what comes first."""

from typing import Any, Final

from regard.miniature.lexicon import Adverb, Modal, Verb, lexicon
from regard.miniature.meaning import (
    Clause,
    Clock,
    Coordination,
    Front,
    Gap,
    Lasting,
    NamedEntity,
    Nominal,
    NounPhrase,
    Pronoun,
    Quality,
    is_vague,
)
from regard.miniature.sampling.adverbials import FINISHED
from regard.miniature.sampling.choices import Draw, RandomChoice
from regard.miniature.sampling.circumstances import add_circumstances, is_open
from regard.miniature.sampling.roles import fill
from regard.miniature.sampling.setting import Parts, Setting, Unsayable, actor_of

_WORDS = lexicon()
_GERN: Final = _WORDS.modals["gern"]


def _modals(**weights: float) -> RandomChoice[Modal]:
    return RandomChoice({_WORDS.modals[german]: weight for german, weight in weights.items()})


_MODALS: Final = _modals(können=4, müssen=4, wollen=4, dürfen=2, sollen=3, möchten=3)
_PAST_MODALS: Final = _modals(können=3, müssen=3, wollen=3, dürfen=1.5)
_ANIMAL_MODALS: Final = _modals(können=2, wollen=3, müssen=1)
_ABLE: Final = _modals(können=1)
_COMMON_PASTS: Final = frozenset({"sein", "haben", "wissen"})  # "du warst" is what one says
_POINTING: Final = frozenset({"definite", "demonstrative", "my", "your", "our"})


def simple_clause(draw: Draw, parts: Parts, setting: Setting) -> Clause:
    """A clause without clauses in it, from the parts already given (at least the verb)."""
    fill(draw, parts, setting)
    parts.pop("has_owned", None)
    _set_tense(draw, parts, setting)
    if not setting.is_plain and draw() < setting.negation:
        _negate(parts)
    add_circumstances(draw, parts, setting)
    if setting.is_main:
        parts["front"] = _front(draw, parts, setting)
    if setting.is_plain and parts.get("front") != "time":
        parts["time"] = None
    if not _is_clear(parts, setting):
        raise Unsayable("an object could be taken for a part of the subject")
    if not _has_clear_pronoun(parts):
        raise Unsayable("the pronoun could be the object")
    return Clause(**parts)


def _is_clear(parts: Parts, setting: Setting) -> bool:
    """Whether no object that follows a noun could be taken for a part of that noun's phrase.

    "Heute hilft der Vater der Frau" could be about her father, "weil die Tante Anna ruft" about Aunt Anna.
    """
    value = parts.get("recipient") or parts.get("object")
    is_dative = "recipient" in parts or parts["verb"].frame == "dative"
    is_feminine = isinstance(value, NounPhrase) and value.number == "singular" and value.noun.gender == "f"
    if not isinstance(value, NamedEntity) and not (is_dative and is_feminine):
        return True
    front = parts.get("front", "subject") if setting.is_main else ""
    if front in ("recipient", "object"):
        return True
    before = parts.get("cause") or (parts.get("time") if front != "time" else None)
    if isinstance(before, Adverb):
        return isinstance(value, NamedEntity) or before.german.islower()  # "vor dem Mittagessen der Frau"
    if before:
        return isinstance(before, Clock | Lasting)
    if parts.get("stance") and front != "stance":
        return True
    subject = parts.get("subject")
    if isinstance(value, NamedEntity) and isinstance(subject, NamedEntity):
        return front == "subject"  # "Karl Emil" could be one man
    return front == "subject" or not isinstance(subject, NounPhrase | Coordination)


def _has_clear_pronoun(parts: Parts) -> bool:
    """Whether a pronoun behind the verb shows that it is the subject.

    "Heute sucht sie das Kind" could be about a child that looks for her; "sie das Buch" could not.
    """
    subject, value = parts.get("subject"), parts.get("object")
    if not isinstance(subject, Pronoun) or subject.gender == "m" or subject.person in ("i", "you", "we"):
        return True
    is_behind = parts.get("front") != "subject"
    verb: Verb = parts["verb"]
    if not is_behind or value is None or isinstance(value, Pronoun | Gap) or verb.object_case == "dative":
        return True
    is_plural = isinstance(value, Coordination) or (isinstance(value, NounPhrase) and value.number == "plural")
    if is_plural != (subject.person == "they"):
        return True
    is_masculine = isinstance(value, NounPhrase) and value.noun.gender == "m" and not is_plural
    if is_masculine and not isinstance(value.possessor, NamedEntity):
        return True
    return actor_of(value, None) not in verb.subjects


def _set_tense(draw: Draw, parts: Parts, setting: Setting) -> None:
    verb: Verb = parts["verb"]
    is_state = "stative" in verb.facts
    tense = (setting.tense_of_states if is_state else "") or setting.tense
    if tense == "past":
        tense = "narrated" if draw() < 0.55 else "spoken"
    if parts.get("is_passive"):
        tense = "present" if tense in ("present", "future", "finished") else "narrated"
    elif tense == "spoken" and is_state:
        tense = "narrated"  # "war", "wusste": states are hardly ever told in the perfect
    parts["tense"] = tense
    if tense in ("present", "narrated", "spoken") and not parts.get("modal"):
        _set_modal(draw, parts, setting)
    subject = parts.get("subject")
    is_you = isinstance(subject, Pronoun) and subject.person == "you"
    is_common = is_state and verb.german in _COMMON_PASTS
    if is_you and parts["tense"] == "narrated" and not is_common and parts.get("modal") in (None, _GERN):
        parts["tense"] = "spoken"  # nobody says "du schriebst"


def _set_modal(draw: Draw, parts: Parts, setting: Setting) -> None:
    verb: Verb = parts["verb"]
    actor = actor_of(parts.get("subject"), setting.head)
    is_deed = not parts.get("is_passive") and "stative" not in verb.facts
    if not setting.has_modals or not is_deed or actor is None or "living" not in actor.classes:
        return
    value = draw()
    is_past = parts["tense"] != "present"
    if value < 0.13:
        parts["tense"] = "narrated" if is_past else "present"
        modals = _ANIMAL_MODALS if "animal" in actor.classes else _PAST_MODALS if is_past else _MODALS
        # What merely happens to somebody is neither wanted nor allowed.
        parts["modal"] = (_ABLE if "chance" in verb.facts else modals)(draw)
    elif setting.is_plain:
        return
    elif value < 0.21 and "gern" in verb.facts and parts["tense"] in ("present", "narrated"):
        parts["modal"] = _GERN
    elif value > 0.95 and setting.is_main and not is_past and is_open(parts.get("subject")):
        parts["tense"] = "finished"
        parts["frequency"] = FINISHED(draw)


def _settles(value: Any) -> bool:
    """Whether a phrase leaves it clear what a negation means: nothing counted, nothing vague."""
    nominal = getattr(value, "nominal", value)
    if isinstance(nominal, NounPhrase):
        return nominal.numeral is None and nominal.determiner in {*_POINTING, "his", "her", "their"}
    return not isinstance(nominal, Coordination | Gap)


def _negate(parts: Parts) -> None:
    """Negate the clause, unless it could then be taken in two ways."""
    verb: Verb = parts["verb"]
    if parts.get("frequency") or verb.frame in ("exist", "weather") or not is_open(parts.get("subject")):
        return
    if verb.frame == "content" and "doubtable" not in verb.facts:
        return
    predicate, target = parts.get("predicate"), parts.get("object")
    if isinstance(predicate, Quality) and (predicate.degree or predicate.comparison):
        return
    is_active = verb.frame == "object" and not parts.get("is_passive") and parts.get("modal") is not _GERN
    others = (parts.get("complement"), parts.get("recipient"))
    if (_settles(target) or (is_active and _is_bare(target))) and all(_settles(other) for other in others):
        parts["is_negated"] = True


def _is_bare(value: Nominal | None) -> bool:
    """Whether "kein" can deny a phrase."""
    return isinstance(value, NounPhrase) and value.determiner == "indefinite" and value.numeral is None


def _may_lead(value: Nominal | None, is_dative: bool) -> bool:
    """Whether a phrase before the verb shows by its form that it is not the subject."""
    if not isinstance(value, NounPhrase) or value.determiner not in _POINTING:
        return False
    if isinstance(value.possessor, NamedEntity):
        return False
    return is_dative or (value.noun.gender == "m" and value.number == "singular")


def _front(draw: Draw, parts: Parts, setting: Setting) -> Front:
    """What German puts first."""
    value = draw()
    subject = parts.get("subject")
    is_they = isinstance(subject, Pronoun) and subject.person == "they"
    if parts.get("stance"):
        may_lead = parts["stance"].german != "wirklich"
        if may_lead and (value < 0.5 or is_they):
            return "stance"
    elif parts.get("time"):
        if value < 0.45 or is_they:
            return "time"
    elif not setting.is_plain and not parts.get("is_negated") and not is_vague(subject):
        if value < 0.1 and not parts.get("is_passive"):
            if _may_lead(parts.get("recipient"), is_dative=True):
                return "recipient"
            if _may_lead(parts.get("object"), is_dative=parts["verb"].frame == "dative"):
                return "object"
        if value > 0.8 and parts.get("place"):
            return "place"
    if is_they:
        raise Unsayable('a sentence that begins with "Sie" and a plural verb could address the reader')
    return "subject"
