"""A reader of stories: it knows only their meanings, keeps its own books, and refuses what contradicts them."""

from saying import WORDS

from regard.miniature.lexicon import Adverb, Name, Noun
from regard.miniature.meaning import (
    Clause,
    Clock,
    Coordination,
    Lasting,
    Meaning,
    NamedEntity,
    Nominal,
    NounPhrase,
    PrepositionalPhrase,
    Pronoun,
    Quality,
    Time,
)

SEXES = {"he": "man", "she": "woman", "his": "man", "her": "woman"}
GLAD, SAD = {"happy", "cheerful"}, {"sad", "angry"}
STAYING = {"sein", "bleiben", "sitzen"}
MOVING = {"gehen", "fahren", "wandern", "kommen"}
GIVING = {"geben", "reichen", "bringen", "leihen"}
USING = {"lesen", "spielen", "anziehen", "anmachen", "benutzen", "auspacken", "bewundern", "tragen", "anschauen"}
TOGETHER = {"begrüßen", "umarmen", "zeigen"} | GIVING
DAY = ["in the morning", "after breakfast", "before lunch", "in the afternoon", "in the evening", "at night"]
ROWS = [
    DAY,
    [f"on {day}day" for day in ("Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun")],
    ["in spring", "in summer", "in autumn", "in winter"],
]


class Contradiction(Exception):
    """What a sentence says cannot be, after all that was said before."""


def hold(truth: object, what: str) -> None:
    if not truth:
        raise Contradiction(what)


class Reader:
    """What a careful reader knows after each sentence."""

    def __init__(self) -> None:
        self.cast: list[Name] = []
        self.where: dict[Name, Noun] = {}
        self.things: dict[Noun, Name | Noun] = {}  # with whom, or at which place
        self.owners: dict[Noun, Name] = {}
        self.had: set[tuple[Name, Noun]] = set()
        self.lost: set[tuple[Name, Noun]] = set()
        self.given: set[tuple[Name, Noun, Name]] = set()
        self.moods: dict[Name, bool] = {}
        self.time: tuple[int, int] | None = None
        self.subject: Name | None = None
        self.people: list[Name] = []
        self.thing: Noun | None = None
        self.place: Noun | None = None

    def read(self, meaning: Meaning) -> None:
        """Take a sentence in, or refuse it."""
        clause = meaning.clause
        hold(meaning.second is None and meaning.asked is None and clause.tense == "narrated", "plain statements only")
        self._read_time(clause.time)
        subjects, noun = self._read_subject(clause.subject)
        subject = subjects[0] if len(subjects) == 1 else None
        mentioned = list(subjects)
        self.cast += [name for name in subjects if name not in self.cast]
        other = self._read_other(clause, subject)
        mentioned += other
        self._read_place(clause, subjects)
        thing = noun
        if clause.verb.german in STAYING:
            self._stay(clause, subject, noun, mentioned)
        elif clause.verb.german in MOVING:
            self._move(clause, subject, other)
        elif subject and clause.modal is None:
            thing = self._read_thing(clause, subject, other[0] if other else None)
        self.cast += [name for name in mentioned if name not in self.cast]
        self._read_inner(clause, subject, mentioned)
        phrase = clause.place or clause.complement
        if isinstance(phrase, PrepositionalPhrase) and isinstance(phrase.nominal, NounPhrase):
            self.place = phrase.nominal.noun if clause.verb.german != "wohnen" else None
        elif noun and noun not in self.things:
            self.place = noun
        elif not isinstance(phrase, Adverb):
            self.place = None
        self.subject, self.people, self.thing = subject, mentioned, thing

    def _read_time(self, time: Time | None) -> None:
        if time is None or isinstance(time, Lasting) or getattr(time, "english", "") == "now":
            return
        if isinstance(time, Clock):
            moment = (len(ROWS), time.hour)
        else:
            row = next(row for row in ROWS if time.english in row)
            moment = (ROWS.index(row), row.index(time.english))
        if self.time:
            hold(moment[0] == self.time[0] and moment[1] > self.time[1], "time goes backwards")
        self.time = moment

    def _read_subject(self, value: Nominal | None) -> tuple[list[Name], Noun | None]:
        if isinstance(value, NamedEntity):
            return [value.name], None
        if isinstance(value, Coordination):
            return [value.first.name, value.second.name], None
        if isinstance(value, NounPhrase):
            hold(value.determiner == "definite", "a thing or a place that is known")
            return [], value.noun
        if value is None:
            return [], None
        if value.person == "they":
            hold(len(self.people) == 2, "nobody for `they`")
            return self.people, None
        if self.subject and self.subject.kind == SEXES[value.person]:
            return [self.subject], None
        alike = [name for name in self.people if name.kind == SEXES[value.person]]
        hold(len(alike) == 1, f"nobody, or too many, for `{value.person}`")
        return alike, None

    def _read_other(self, clause: Clause, subject: Name | None) -> list[Name]:
        """Whoever else takes part: a recipient, an object or company."""
        value = clause.recipient or (clause.company.nominal if clause.company else None) or clause.object
        if isinstance(value, NamedEntity):
            return [value.name]
        if isinstance(value, Pronoun) and value.person in SEXES:
            alike = [name for name in self.cast if name.kind == SEXES[value.person] and name is not subject]
            hold(len(alike) == 1, f"nobody, or too many, for the object `{value.person}`")
            return alike
        return []

    def _read_place(self, clause: Clause, subjects: list[Name]) -> None:
        if clause.place is None:
            return
        place = self.place if isinstance(clause.place, Adverb) else clause.place.nominal.noun
        hold(subjects and all(self.where.get(name) is place for name in subjects), "not where they are")

    def _stay(self, clause: Clause, subject: Name | None, noun: Noun | None, mentioned: list[Name]) -> None:
        value = clause.predicate
        if isinstance(value, NounPhrase):
            hold(value.noun.sex == ("f" if subject.kind == "woman" else "m"), "a relation of the other sex")
            hero = self.cast[0]
            hold(SEXES[value.determiner] == hero.kind and subject is not hero, "whose relation?")
            mentioned.append(hero)
        elif isinstance(value, Quality) and subject:
            is_glad = value.adjective.english in GLAD
            hold(is_glad or value.adjective.english in SAD, "no mood")
            hold(self.moods.get(subject) is is_glad, "no reason for that mood")
        elif value is None:
            place = clause.complement.nominal.noun
            known = self.where if subject else self.things
            hold(known.setdefault(subject or noun, place) is place, "is somewhere else")

    def _move(self, clause: Clause, subject: Name, other: list[Name]) -> None:
        place = clause.complement.nominal.noun
        hold(self.where.get(subject) is not place, "goes where they are already")
        for name in other:
            hold(self.where.get(name) is self.where.get(subject), "goes with somebody who is not there")
        self.where |= dict.fromkeys([subject, *other], place)

    def _read_thing(self, clause: Clause, subject: Name, other: Name | None) -> Noun | None:
        verb, value = clause.verb.german, clause.object
        if verb in TOGETHER:
            hold(self.where.get(subject) and self.where.get(subject) is self.where.get(other), "not together")
        if verb == "brauchen" or not isinstance(value, NounPhrase | Pronoun):
            return None
        noun = self._noun(value, subject)
        if noun is None or "portable" not in noun.classes:
            return None
        is_new = noun not in self.things
        hold(is_new == (isinstance(value, NounPhrase) and value.determiner == "indefinite"), "new or known?")
        self._act(clause, subject, noun, other, is_new)
        return noun

    def _noun(self, value: NounPhrase | Pronoun, subject: Name) -> Noun | None:
        if isinstance(value, Pronoun):
            if value.person != "it":
                return None
            hold(self.thing is value.noun, "nothing for `it`")
            return self.thing
        if value.determiner in SEXES:
            hold(SEXES[value.determiner] == subject.kind, "owned by nobody of that sex")
            hold(self.owners.get(value.noun) is subject, "not their own")
        if isinstance(value.possessor, NamedEntity):
            hold(self.owners.get(value.noun) is value.possessor.name, "not the owner")
        return value.noun

    def _act(self, clause: Clause, subject: Name, noun: Noun, other: Name | None, is_new: bool) -> None:
        verb, with_whom = clause.verb.german, self.things.get(noun)
        if verb in ("haben", "verlieren") and is_new:
            self.owners[noun] = with_whom = subject
        if verb in ("finden", "nehmen", "holen", "kaufen"):
            hold(with_whom is self.where[subject] or (is_new and verb in ("finden", "kaufen")), "it is not there")
            hold(verb != "kaufen" or self.where[subject].english in ("store", "market"), "bought nowhere")
            with_whom, self.moods[subject] = subject, True
        elif verb == "suchen":
            hold(isinstance(with_whom, Noun), "looks for what somebody has")
        else:
            hold(verb in USING | GIVING | {"haben", "verlieren", "zeigen"}, f"an unknown deed: {verb}")
            hold(with_whom is subject, "somebody else has it")
        if clause.manner:
            hold((subject, noun) in self.had, "has not had it before")
        if verb == "verlieren":
            with_whom, self.moods[subject] = self.where[subject], False
            self.lost.add((subject, noun))
        if verb in GIVING:
            with_whom, self.moods[other], self.moods[subject] = other, True, True
            self.given.add((subject, noun, other))
            if verb != "leihen" and self.owners.get(noun) is subject:
                del self.owners[noun]
        if isinstance(with_whom, Name):
            self.had.add((with_whom, noun))
        self.things[noun] = with_whom

    def _read_inner(self, clause: Clause, subject: Name | None, mentioned: list[Name]) -> None:
        """What is said, or given as a reason, about the subject of the sentence."""
        link = clause.content or clause.circumstance
        if link is None:
            return
        inner, noun = link.clause, link.clause.object.noun
        about = inner.recipient or inner.subject
        hold(isinstance(about, Pronoun) and SEXES[about.person] == subject.kind, "about somebody of the other sex")
        if inner.object.determiner in SEXES:
            hold(SEXES[inner.object.determiner] == subject.kind, "owned by nobody of that sex")
        if inner.verb.german == "verlieren":
            hold((subject, noun) in self.lost and self.things[noun] is not subject, "has not lost it")
        elif inner.verb.german == "haben":
            hold(self.things[noun] is subject, "does not have it")
        else:
            hold((inner.subject.name, noun, subject) in self.given, "was not given it")
            mentioned.append(inner.subject.name)


assert all(time in {adverb.english for adverb in WORDS.adverbs.values()} for row in ROWS for time in row)
