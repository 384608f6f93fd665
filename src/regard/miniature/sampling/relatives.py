"""Sampling of relative clauses whose antecedent and gap are unambiguous."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from regard.miniature.lexicon import Frame, Noun, lexicon
from regard.miniature.meaning import (
    GAP,
    Clause,
    Coordination,
    NamedEntity,
    NounPhrase,
    PrepositionalPhrase,
    Pronoun,
    Quality,
    Relative,
    Role,
)
from regard.miniature.sampling.choices import Draw, RandomChoice, among, nouns_of, verbs_with
from regard.miniature.sampling.clauses import simple_clause
from regard.miniature.sampling.phrases import LIGHT, noun_phrase
from regard.miniature.sampling.roles import DEEDS
from regard.miniature.sampling.setting import (
    SPEAKERS,
    Parts,
    Period,
    Setting,
    Unsayable,
    actor_of,
    choose_verb,
    period_of,
)

# Draws a clause of an exact depth: `nesting.nested`, handed in because the two modules call each other.
Nest = Callable[[Draw, Parts, Setting, int], Clause]

_WORDS = lexicon()
_ROLES: Final[RandomChoice[Role]] = RandomChoice(
    {"subject": 52, "object": 25, "complement": 11, "recipient": 6, "possessor": 6}
)
_OBJECT_FRAMES: Final[RandomChoice[Frame]] = RandomChoice({"object": 3, "dative": 1, "recipient": 1})
_COMPLEMENT_FRAMES: Final[RandomChoice[Frame]] = RandomChoice({"about": 3, "position": 2, "motion": 1})
_RECEIVING: Final = among(verb for verb in _WORDS.verbs if verb.frame == "recipient")
# The frames whose last phrase can carry a relative clause.
_HOLDERS: Final[RandomChoice[Frame]] = RandomChoice(
    {"object": 40, "dative": 8, "recipient": 8, "about": 16, "position": 12, "motion": 8, "put": 5}
)
_KNOWN: Final = frozenset({"my", "your", "our", "his", "her", "their", "whose"})
_SETTING: Final = Setting(fullness=LIGHT, richness=0.45, persons=SPEAKERS)


def with_relative(draw: Draw, parts: Parts, setting: Setting, depth: int, nest: Nest) -> Clause:
    """A clause one of whose phrases carries a relative clause: its subject or its last one."""
    subject = parts.get("subject")
    is_last = subject is not None or draw() < 0.6
    setting = setting._replace(is_plain=is_last, richness=setting.richness * 0.6)
    if "verb" not in parts:
        parts["verb"] = choose_verb(draw, _HOLDERS if is_last else DEEDS, actor_of(subject, setting.head))
    clause = simple_clause(draw, parts, setting)
    slot = _last_slot(clause) if is_last else "object" if clause.is_passive else "subject"
    phrase = getattr(clause, slot)
    head = phrase.nominal if isinstance(phrase, PrepositionalPhrase) else phrase
    if not isinstance(head, NounPhrase) or head.possessor or head.determiner in _KNOWN:
        raise Unsayable("what is known without it takes no relative clause")
    if "unique" in head.noun.classes:
        raise Unsayable("there is only one anyway")
    relative = _relative_clause(draw, head, period_of(clause.tense), depth - 1, nest)
    if relative.clause.verb is clause.verb:
        raise Unsayable("the same twice over")
    head = replace(head, relative=relative)
    is_prepositional = isinstance(phrase, PrepositionalPhrase)
    whole = PrepositionalPhrase(phrase.preposition, head) if is_prepositional else head
    return Clause(**parts | {slot: whole})


def _last_slot(clause: Clause) -> str:
    """The role whose phrase closes the clause in both languages."""
    if clause.is_passive or clause.predicate or "to" in clause.verb.facts:
        raise Unsayable("what comes last here takes no relative clause")
    if "*" in clause.verb.english:
        raise Unsayable("the object comes before the end of the verb")
    return "complement" if clause.complement is not None else "object"


def _relative_clause(draw: Draw, head: NounPhrase, period: Period, depth: int, nest: Nest) -> Relative:
    """A relative clause about a noun phrase in a clause of some period, of exactly this depth."""
    states: Period = "past" if period == "past" else "present"
    deeds: Period = "past" if period == "past" or draw() < 0.35 else "present"
    setting = _SETTING._replace(tense=deeds, tense_of_states=states, head=head)
    role = _ROLES(draw) if depth == 0 else "subject"
    if role == "subject":
        clause = nest(draw, {"subject": GAP}, setting, depth)
        if isinstance(clause.predicate, Quality) and head.adjectives:
            raise Unsayable("what it is like has been said already")
        return Relative(role, clause)
    if role == "possessor":
        return Relative(role, _possessor_clause(draw, head, setting, nest))
    parts = _gap_parts(draw, head.noun, role)
    clause = simple_clause(draw, parts, setting)
    if role == "object" and not clause.is_passive and not _is_clear(head, clause):
        raise Unsayable("the relative pronoun could be the subject")
    subject = clause.subject
    if isinstance(subject, NounPhrase) and subject.determiner == "indefinite" and subject.number == "plural":
        raise Unsayable("the relative pronoun could be an article")
    return Relative(role, clause)


def _possessor_clause(draw: Draw, head: NounPhrase, setting: Setting, nest: Nest) -> Clause:
    if "person" not in head.noun.classes:
        raise Unsayable("only persons own things here")
    noun = nouns_of("kin", "pet", "vehicle", "clothing")(draw)
    phrase = noun_phrase(draw, noun, "known", LIGHT)
    subject = NounPhrase(noun, "whose", phrase.number, phrase.adjectives, phrase.degree)
    return nest(draw, {"subject": subject}, setting._replace(head=None), 0)


def _gap_parts(draw: Draw, noun: Noun, role: Role) -> Parts:
    """A verb with the gap where it takes the noun."""
    if role == "recipient":
        if "person" not in noun.classes:
            raise Unsayable("only persons receive things")
        return {"verb": _RECEIVING(draw), "recipient": GAP}
    frame = (_OBJECT_FRAMES if role == "object" else _COMPLEMENT_FRAMES)(draw)
    is_target = frame in ("position", "motion")
    choice = verbs_with(noun, "target" if is_target else "object", frame)
    if choice is None:
        raise Unsayable("no verb of this frame takes the noun")
    verb = choice(draw)
    if role == "object":
        is_passive = "passive" in verb.facts and frame == "object" and draw() < 0.2
        return {"verb": verb, "object": GAP} | ({"is_passive": True} if is_passive else {})
    preposition = noun.where[0] if frame == "position" else noun.whither if frame == "motion" else verb.governs
    if preposition is None:
        raise Unsayable("there is no way to it")
    return {"verb": verb, "complement": PrepositionalPhrase(preposition, GAP)}


def _is_clear(head: NounPhrase, clause: Clause) -> bool:
    """Whether it shows that the noun which the clause is about is its object, not its subject."""
    subject = clause.subject
    if clause.verb.frame == "dative" or (head.noun.gender == "m" and head.number == "singular"):
        return True
    if isinstance(subject, Pronoun):
        return True
    is_plural = isinstance(subject, Coordination) or (isinstance(subject, NounPhrase) and subject.number == "plural")
    if is_plural != (head.number == "plural"):
        return True
    if isinstance(subject, NounPhrase) and subject.noun.gender == "m" and not is_plural:
        return not isinstance(subject.possessor, NamedEntity) or bool(subject.adjectives)
    doer = actor_of(subject, None)
    # Nobody takes "the book that the child reads" for a book that reads a child.
    return head.noun not in clause.verb.subjects or doer not in clause.verb.objects
