"""Meanings, drawn at random to an exact depth of nesting."""

from dataclasses import replace
from typing import Final

from regard.miniature.lexicon import Frame, Verb, lexicon
from regard.miniature.meaning import GAP, Asked, Clause, Meaning, NounPhrase
from regard.miniature.sampling.choices import Draw, RandomChoice, among, verbs_of
from regard.miniature.sampling.clauses import simple_clause
from regard.miniature.sampling.nesting import nested
from regard.miniature.sampling.phrases import LIGHT
from regard.miniature.sampling.setting import ASKED_PERSONS, SPEAKERS, Parts, Period, Setting, Unsayable

_WORDS = lexicon()
_TENSES: Final[RandomChoice[Period]] = RandomChoice({"present": 40, "past": 47, "future": 10})
_JOINT_TENSES: Final[RandomChoice[Period]] = RandomChoice({"present": 1, "past": 1})
_JOINTS: Final = RandomChoice(
    {_WORDS.conjunctions[word]: w for word, w in {"und": 4, "aber": 3, "denn": 1.5, "deshalb": 1.5}.items()}
)
_ASKED: Final[RandomChoice[Asked]] = RandomChoice(
    {"whether": 50, "who": 14, "what": 12, "where": 10, "when": 7, "why": 7}
)
_ANYBODY: Final = NounPhrase(_WORDS.nouns["Mann"], "indefinite")
_PLACEABLE: Final = among(
    verb
    for verb in _WORDS.verbs
    if verb.frame == "position" or ("place" in verb.facts and verb.frame in ("alone", "object"))
)
_SEEN: Final = among(v for v in _WORDS.verbs if v.frame in ("object", "dative") and _WORDS.nouns["Frau"] in v.objects)
_HANDLED: Final = among(v for v in _WORDS.verbs if v.frame == "object" and _WORDS.nouns["Frau"] not in v.objects)
_DOINGS: Final[RandomChoice[Frame]] = RandomChoice(
    {"object": 5, "alone": 3, "motion": 2, "about": 2, "recipient": 1, "dative": 1}
)


def sample(draw: Draw, depth: int) -> Meaning:
    """A meaning whose clauses nest exactly so deep."""
    while True:
        try:
            return _statement(draw, depth)
        except Unsayable:
            continue


def _statement(draw: Draw, depth: int) -> Meaning:
    kind = draw()
    if depth < 2 and kind < 0.07:
        return _question(draw, depth)
    if depth == 0 and kind < 0.15:
        return _joined(draw)
    tense = _TENSES(draw)
    if depth == 0:
        return Meaning(nested(draw, {}, Setting(tense=tense, is_main=True, is_alone=True), 0))
    setting = Setting(tense=tense, is_main=True, fullness=LIGHT, richness=0.7)
    return Meaning(nested(draw, {}, setting, depth))


def _joined(draw: Draw) -> Meaning:
    """Two main clauses; the second has no pronoun that could point into the first."""
    joint = _JOINTS(draw)
    setting = Setting(tense=_JOINT_TENSES(draw), is_main=True, fullness=LIGHT, richness=0.6)
    first = nested(draw, {}, setting, 0)
    is_second_main = joint.german != "deshalb"
    second = nested(draw, {}, setting._replace(persons=SPEAKERS, is_main=is_second_main), 0)
    if second.stance or "finished" in (first.tense, second.tense):
        raise Unsayable("what the speaker thinks of it comes first")
    return Meaning(first, joint, second)


def _question(draw: Draw, depth: int) -> Meaning:
    asked = _ASKED(draw) if depth == 0 else "whether"
    setting = Setting(tense=_TENSES(draw), is_alone=depth == 0, richness=0.6, persons=ASKED_PERSONS)
    if asked == "whether":
        return Meaning(nested(draw, {}, setting, depth), asked=asked)
    return Meaning(_asking_clause(draw, asked, setting._replace(negation=0.0)), asked=asked)


def _asking_clause(draw: Draw, asked: Asked, setting: Setting) -> Clause:
    """A clause with a gap for a person or a thing, or without the place, time or reason that it asks for."""
    parts: Parts = {"has_owned": True}
    if asked == "who" and draw() < 0.5:
        parts |= {"subject": GAP}
        setting = setting._replace(head=_ANYBODY)
        return nested(draw, parts, setting, 0)
    if asked in ("who", "what"):
        verb: Verb = (_SEEN if asked == "who" else _HANDLED)(draw)
        clause = simple_clause(draw, parts | {"verb": verb, "object": GAP}, setting)
        if "gehören" in verb.german:
            raise Unsayable("asked for with a whole phrase")
        return clause
    verb = _PLACEABLE(draw) if asked == "where" else _doing(draw)
    clause = simple_clause(draw, parts | {"verb": verb}, setting)
    if asked == "where":
        return replace(clause, place=None, complement=None)
    return replace(clause, time=None, frequency=None) if asked == "when" else replace(clause, cause=None)


def _doing(draw: Draw) -> Verb:
    return verbs_of(_DOINGS(draw))(draw)
