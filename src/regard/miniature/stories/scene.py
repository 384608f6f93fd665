"""Story state: who is where, who has what, the time, and referring expressions for them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple

from regard.miniature.lexicon import Adverb, Name, Noun, lexicon
from regard.miniature.meaning import (
    Clause,
    Coordination,
    Determiner,
    Meaning,
    NamedEntity,
    Nominal,
    NounPhrase,
    Person,
    PrepositionalPhrase,
    Pronoun,
    Time,
)
from regard.miniature.sampling.choices import Draw
from regard.miniature.stories.cast import Sex, StoryPlan, Thing, sex_of

Kind = Literal["pronoun", "holder", "thing", "place", "time", "mood"]
Parts = dict[str, Any]  # by the names of the fields of Clause

_PERSONS: Final[dict[Sex, Person]] = {"f": "she", "m": "he"}
OWNERS: Final[dict[Sex, Determiner]] = {"f": "her", "m": "his"}
_OTHER_PERSON: Final[dict[Person, Person]] = {"he": "she", "she": "he"}
_OTHER_OWNER: Final[dict[Determiner, Determiner]] = {"his": "her", "her": "his"}
_THERE: Final = lexicon().adverbs["dort"]


class Contrast(NamedTuple):
    """What a sentence could have said instead, against what the story has told before."""

    kind: Kind
    meaning: Meaning


class Told(NamedTuple):
    """A sentence of a story, what would have been wrong in its place, and what it speaks of, also by pronouns."""

    meaning: Meaning
    contrasts: tuple[Contrast, ...]
    people: tuple[Name, ...]
    """First the subject, if it is one person."""
    has_subject: bool
    thing: Thing | None
    place: Noun | None


class Scene:
    """The state of a story while it is told; nothing is true in it that has not been said."""

    def __init__(self, draw: Draw, plan: StoryPlan, spare: int) -> None:
        self.draw = draw
        self.plan = plan
        self.spare = spare  # how many more sentences there is room for
        self.told: list[Told] = []
        self.cast: list[Name] = []
        self.where: dict[Name, Noun] = {}
        self.holders: dict[Thing, Name | Noun] = {}  # a person, or the place where it lies
        self.owners: dict[Thing, Name] = {}
        self.named_places: list[Noun] = []
        self.is_described = False  # whether it has said what a place is like, which it does once
        self._time = self._last_time = -1
        # What the sentence before spoke of, which is all that pronouns point to.
        self._subject: Name | None = None
        self._people: tuple[Name, ...] = ()
        self._last_named: Name | None = None
        self._last_thing: Thing | None = None
        self._thing: Thing | None = None
        self._place: Noun | None = None

    def has_room(self, likelihood: float) -> bool:
        """Whether to tell something that the plot could do without."""
        if self.spare < 1 or self.draw() >= likelihood:
            return False
        self.spare -= 1
        return True

    def person(self, name: Name) -> Nominal:
        """A subject: a pronoun if it is the subject of the sentence before, or the only one there of its sex."""
        alike = [other for other in self._people if sex_of(other) == sex_of(name)]
        is_clear = self._subject is name or alike == [name]
        if is_clear and self.draw() < (0.88 if self._subject is name else 0.6):
            return pronoun(name)
        return NamedEntity(name)

    def both(self, first: Name, second: Name) -> Nominal:
        """Two people as a subject: `they` if the sentence before spoke of these two."""
        if {first, second} == set(self._people) and self.draw() < 0.7:
            return Pronoun("they")
        return Coordination(NamedEntity(first), NamedEntity(second))

    def other_person(self, name: Name, subject: Name) -> Nominal:
        """An object: a pronoun if it was just named and nobody else but the subject could be meant."""
        if name in self._people and self.draw() < 0.7:
            alike = [other for other in self.cast if sex_of(other) == sex_of(name) and other is not subject]
            if alike == [name]:
                return pronoun(name)
        return NamedEntity(name)

    def thing(self, thing: Thing, subject: Name, is_light: bool = True) -> Nominal:
        """A thing as an object: new, `it` where that is light enough, the subject's own, or known."""
        if thing not in self.holders:
            return NounPhrase(thing.noun, "indefinite", adjectives=thing.adjectives)
        if is_light and self._thing is thing and self.draw() < 0.6:
            return Pronoun("it", thing.noun.gender, thing.noun)
        value, owner = self.draw(), self.owners.get(thing)
        if owner is subject and value < 0.6:
            return NounPhrase(thing.noun, OWNERS[sex_of(subject)])
        if owner and owner is not subject and is_light and value < 0.2:
            return NounPhrase(thing.noun, possessor=NamedEntity(owner))
        return NounPhrase(thing.noun, adjectives=thing.adjectives if value > 0.75 else ())

    def here(self, name: Name) -> PrepositionalPhrase | Adverb:
        """Where somebody is, by `there` if the place has just been named."""
        place = self.where[name]
        return _THERE if self._place is place and self.draw() < 0.75 else at(place)

    def pass_time(self, likelihood: float = 0.65) -> Time | None:
        """A later time than any before, while the story has times left."""
        steps = 1 if self.draw() < 0.7 else 2
        if self._time + steps >= len(self.plan.times) or self.draw() >= likelihood:
            return None
        self._last_time, self._time = self._time, self._time + steps
        return self.plan.times[self._time]

    def say(
        self,
        clause: Clause,
        subject: Name | None,
        *,
        others: Iterable[Name] = (),
        thing: Thing | None = None,
        place: Noun | None = None,
        wrong: Iterable[tuple[Kind, Parts]] = (),
    ) -> None:
        """Tell a clause, and remember what it spoke of; `wrong` is what may not stand in it."""
        people = (*([subject] if subject else []), *others)
        self.cast += [name for name in people if name not in self.cast]
        changes = list(wrong)
        if clause.time is not None and clause.time is self._now() and self._last_time > 0:
            earlier = self.plan.times[int(self.draw() * self._last_time)]
            changes.append(("time", {"time": earlier}))
        if len({sex_of(name) for name in self.cast}) == 1 and (flipped := _flipped(clause)):
            changes.append(("pronoun", flipped))
        contrasts = (Contrast(kind, Meaning(replace(clause, **parts))) for kind, parts in changes)
        self.told.append(Told(Meaning(clause), tuple(contrasts), people, subject is not None, thing, place))
        self._subject, self._people, self._thing, self._place = subject, people, thing, place
        named = [value.name for value in _nominals(clause) if isinstance(value, NamedEntity)]
        self._last_named = named[-1] if named else self._last_named
        self._last_thing = thing or self._last_thing
        if place and place not in self.named_places:
            self.named_places.append(place)

    def _now(self) -> Time | None:
        return self.plan.times[self._time] if self._time >= 0 else None

    def elsewhere(self, name: Name) -> Noun | None:
        """A place that the story has named and where somebody whose place is known is not."""
        if name not in self.where:
            return None
        return next((place for place in reversed(self.named_places) if place is not self.where[name]), None)

    def without(self, thing: Thing) -> Name | None:
        """Somebody known who does not have a thing that somebody has."""
        holder = self.holders.get(thing)
        return next((name for name in reversed(self.cast) if name is not holder), None) if holder else None

    def is_telling(self, wrong: Name) -> bool:
        """Whether to contrast somebody with the right one: less often unless it is who was named last."""
        return self._last_named is wrong or self.draw() < 0.4

    def other_thing(self, thing: Thing, holder: Name | Noun) -> Thing | None:
        """A known thing that is with somebody else, or elsewhere; less often the one that was named last."""
        found = (t for t, with_whom in self.holders.items() if t is not thing and with_whom is not holder)
        other = next(found, None)
        return None if other is self._last_thing and self.draw() >= 0.4 else other


def pronoun(name: Name) -> Pronoun:
    """`he` or `she`."""
    sex = sex_of(name)
    return Pronoun(_PERSONS[sex], sex)


def at(place: Noun) -> PrepositionalPhrase:
    """At, in or on a place."""
    return PrepositionalPhrase(place.where[0], NounPhrase(place))


def to(place: Noun) -> PrepositionalPhrase:
    """To or into a place."""
    assert place.whither is not None
    return PrepositionalPhrase(place.whither, NounPhrase(place))


def known(thing: Thing) -> NounPhrase:
    """A thing that has been named before."""
    return NounPhrase(thing.noun)


def _nominals(clause: Clause) -> list[Nominal | None]:
    """The people of a clause in the order of English."""
    subject = clause.subject
    pair = [subject.first, subject.second] if isinstance(subject, Coordination) else [subject]
    company = clause.company.nominal if clause.company else None
    inner = clause.content.clause.subject if clause.content else None
    return [*pair, clause.recipient, clause.object, company, inner]


def _flipped(clause: Clause) -> Parts:
    """The parts of a clause that say he, his, she or her, for the other sex."""
    parts: Parts = {}
    for field in ("subject", "object", "recipient", "predicate"):
        value = getattr(clause, field)
        if (other := _of_the_other_sex(value)) is not value:
            parts[field] = other
    for field in ("content", "circumstance"):
        link = getattr(clause, field)
        if link and (inner := _flipped(link.clause)):
            parts[field] = replace(link, clause=replace(link.clause, **inner))
    return parts


def _of_the_other_sex(value: Any) -> Any:
    if isinstance(value, Pronoun) and value.person in _OTHER_PERSON:
        person = _OTHER_PERSON[value.person]
        return Pronoun(person, "f" if person == "she" else "m")
    if isinstance(value, NounPhrase) and value.determiner in _OTHER_OWNER:
        return replace(value, determiner=_OTHER_OWNER[value.determiner])
    return value
