"""Meanings of sentences, independent of language: clauses, noun phrases and their nesting."""

from dataclasses import dataclass
from typing import Final, Literal

from regard.miniature.lexicon import Adjective, Adverb, Conjunction, Gender, Modal, Name, Noun, Preposition, Verb

Number = Literal["singular", "plural"]
Determiner = Literal[
    "definite", "indefinite", "demonstrative", "each", "many", "some", "no",
    "my", "your", "our", "his", "her", "their", "whose",
]  # fmt: skip
Person = Literal["i", "you", "he", "she", "it", "we", "they"]

# Narrated and spoken past are one past to English; German tells the first in the preterite and the second in
# the perfect. A finished event reaches into the present ("has already eaten"); an earlier one lies before
# another past ("had eaten").
Tense = Literal["present", "narrated", "spoken", "finished", "earlier", "future"]

Role = Literal["subject", "object", "recipient", "complement", "possessor"]

# What German puts before the finite verb; English only follows where it fronts the same thing naturally.
Front = Literal["subject", "object", "recipient", "time", "place", "stance"]

Asked = Literal["whether", "who", "what", "where", "when", "why"]


class Gap:
    """Where a relative clause or a question leaves out what it is about."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "GAP"


GAP: Final = Gap()


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun with all that depends on it; indefinite without an article in the plural and for masses."""

    noun: Noun
    determiner: Determiner = "definite"
    number: Number = "singular"
    adjectives: tuple[Adjective, ...] = ()
    degree: Adverb | None = None
    numeral: int | None = None
    possessor: "NounPhrase | NamedEntity | None" = None
    relative: "Relative | None" = None


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A person, a town or a country called by name."""

    name: Name


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A personal pronoun; one that points back knows the noun it stands for and that noun's gender."""

    person: Person
    gender: Gender | None = None
    noun: Noun | None = None


@dataclass(frozen=True, slots=True)
class Coordination:
    """Two noun phrases joined by `and`."""

    first: "NounPhrase | NamedEntity"
    second: "NounPhrase | NamedEntity"


Nominal = NounPhrase | NamedEntity | Pronoun | Coordination | Gap


@dataclass(frozen=True, slots=True)
class PrepositionalPhrase:
    """A preposition, in one of its senses, with what it governs."""

    preposition: Preposition
    nominal: Nominal


@dataclass(frozen=True, slots=True)
class Clock:
    """At a full hour, from 1 to 12."""

    hour: int


@dataclass(frozen=True, slots=True)
class Ago:
    """So many days, weeks, months or years before now."""

    count: int
    unit: Noun


@dataclass(frozen=True, slots=True)
class Lasting:
    """For so many minutes, hours or days."""

    count: int
    unit: Noun


@dataclass(frozen=True, slots=True)
class Quality:
    """What a copula says of its subject, perhaps compared with a standard."""

    adjective: Adjective
    degree: Adverb | None = None
    comparison: Literal["more", "equal"] | None = None
    standard: NounPhrase | NamedEntity | None = None


Time = Adverb | Clock | Ago | Lasting | PrepositionalPhrase


@dataclass(frozen=True, slots=True)
class Clause:
    """One verb with its roles and circumstances; the subject stays the doer when the clause is passive."""

    verb: Verb
    subject: Nominal | None = None
    object: Nominal | None = None
    recipient: Nominal | None = None
    complement: PrepositionalPhrase | Adverb | None = None
    predicate: Quality | NounPhrase | None = None
    tense: Tense = "present"
    modal: Modal | None = None
    is_negated: bool = False
    is_passive: bool = False
    time: Time | None = None
    frequency: Adverb | None = None
    manner: Adverb | None = None
    company: PrepositionalPhrase | None = None
    cause: PrepositionalPhrase | None = None
    place: PrepositionalPhrase | Adverb | None = None
    stance: Adverb | None = None
    front: Front = "subject"
    content: "Content | None" = None
    circumstance: "Circumstance | None" = None


@dataclass(frozen=True, slots=True)
class Relative:
    """A clause about the noun it hangs on, which fills its one gap."""

    role: Role
    clause: Clause


@dataclass(frozen=True, slots=True)
class Content:
    """A clause that is said, known or asked."""

    conjunction: Conjunction
    clause: Clause


@dataclass(frozen=True, slots=True)
class Circumstance:
    """A clause that says why, when or on what condition."""

    conjunction: Conjunction
    clause: Clause
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class Meaning:
    """One sentence: a clause or two joined ones, stated or asked."""

    clause: Clause
    joint: Conjunction | None = None
    second: Clause | None = None
    asked: Asked | None = None


def grammatical_subject(clause: Clause) -> Nominal | None:
    """What the verb agrees with: the object of a passive clause, else the subject."""
    return clause.object if clause.is_passive else clause.subject


def is_vague(value: Nominal | None) -> bool:
    """Whether a nominal is new to the listener: a, many, some, or a bare plural or mass."""
    return type(value) is NounPhrase and value.determiner in ("indefinite", "many", "some")


def likes(clause: Clause) -> bool:
    """Whether the clause says what somebody likes to do."""
    return clause.modal is not None and clause.modal.german == "gern"


def denies_noun(clause: Clause) -> bool:
    """Whether the negation falls on an indefinite object or predicate: "kein", "not any"."""
    target = clause.predicate or clause.object
    if not clause.is_negated or likes(clause) or type(target) is not NounPhrase:
        return False
    return target.determiner == "indefinite" and target.numeral is None
