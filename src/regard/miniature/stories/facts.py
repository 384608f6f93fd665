"""Facts of a story that can be asked for, and the spans of its text that state them."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal, NamedTuple

from regard.miniature.english.phrases import nominal, time_phrase
from regard.miniature.lexicon import Name, Noun, Verb
from regard.miniature.meaning import Clause, Lasting, NamedEntity, NounPhrase, PrepositionalPhrase, Quality
from regard.miniature.stories.telling import Story

Role = Literal["who", "whom", "what", "where", "when", "how long", "why", "like", "end"]

# Deeds that one may call by one another's names.
_ALIKE: Final = {
    "reichen": "geben", "bringen": "geben", "leihen": "geben", "holen": "nehmen",
    "fahren": "gehen", "wandern": "gehen", "kommen": "gehen", "bleiben": "sein", "sitzen": "sein",
}  # fmt: skip


# Where somebody is cannot be asked of who goes somewhere else.
STAY: Final = "sein"


class Mention(NamedTuple):
    """Words of a story, and where they begin in the body of its text."""

    text: str
    start: int


@dataclass(frozen=True)
class Fact:
    """One sentence: who does what with which thing to or with whom, and where; nothing that it leaves open."""

    number: int
    clause: Clause
    deed: str
    people: tuple[Name, ...]
    whom: Name | None = None
    noun: Noun | None = None
    place: Noun | None = None

    def has(self, role: Role) -> bool:
        """Whether it says that."""
        clause = self.clause
        if role == "who":
            return len(self.people) == 1
        if role in ("when", "how long"):
            return clause.time is not None and isinstance(clause.time, Lasting) == (role == "how long")
        if role == "why":
            return clause.circumstance is not None
        if role == "like":
            return self.deed == "look"
        return {"whom": self.whom, "what": self.noun, "where": self.place}.get(role) is not None

    @cached_property
    def named(self) -> Clause:
        """The clause with names and nouns for its pronouns, and no more than its roles."""
        clause, value = self.clause, self.clause.object
        if self.noun is not None and value is not None:
            value = NounPhrase(self.noun)
        elif self.whom and value is not None and clause.recipient is None:
            value = NamedEntity(self.whom)
        company = clause.company
        return replace(
            clause,
            subject=NamedEntity(self.people[0]) if self.people else clause.subject,
            object=value,
            recipient=NamedEntity(self.whom) if clause.recipient and self.whom else None,
            company=replace(company, nominal=NamedEntity(self.whom)) if company and self.whom else None,
            place=None,
            time=None,
            manner=None,
            stance=None,
            content=None,
            circumstance=None,
            front="subject",
        )


class Asked(NamedTuple):
    """A deed with whatever else is known of it; `clause` says it."""

    clause: Clause
    deed: str
    who: Name | None = None
    whom: Name | None = None
    noun: Noun | None = None
    place: Noun | None = None

    def fits(self, fact: Fact) -> bool:
        """Whether a fact is one of those that are asked for."""
        return (
            (fact.deed == self.deed or (self.deed == STAY and fact.deed == "gehen"))
            and (self.who is None or self.who in fact.people)
            and self.whom in (None, fact.whom)
            and self.noun in (None, fact.noun)
            and self.place in (None, fact.place)
        )


def deed_of(verb: Verb) -> str:
    """What verbs of the same deed have in common."""
    return _ALIKE.get(verb.german, verb.german)


class Account:
    """A story with its facts, and its text with what can be found in it."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.sentences = story.sentences
        self.text = " ".join(self.sentences)
        lengths = [len(sentence) + 1 for sentence in self.sentences]
        self._starts = [sum(lengths[:number]) for number in range(len(lengths))]

    @cached_property
    def facts(self) -> list[Fact]:
        """The facts in their order."""
        return [fact for number in range(len(self.sentences)) if (fact := self._fact(number))]

    def _fact(self, number: int) -> Fact | None:
        told = self.story.told[number]
        clause, people = told.meaning.clause, told.people
        if clause.modal or clause.verb.frame in ("weather", "content") or clause.verb.german == "brauchen":
            return None
        found = Fact(number, clause, deed_of(clause.verb), people, place=told.place)
        if clause.verb.german == "wohnen" and isinstance(clause.complement, PrepositionalPhrase):
            inner = clause.complement.nominal
            return replace(found, place=inner.noun) if isinstance(inner, NounPhrase) else found
        if isinstance(clause.predicate, Quality):
            return replace(found, deed=f"mood {clause.predicate.adjective.german}" if people else "look")
        if isinstance(clause.predicate, NounPhrase):  # who is what to the hero
            return replace(found, deed="relation", people=people[:1], whom=people[1], noun=clause.predicate.noun)
        if told.has_subject and (clause.recipient or clause.company or (clause.object and len(people) > 1)):
            is_together = clause.company is not None
            found = replace(found, people=people if is_together else people[:1], whom=people[1])
        if told.thing:
            return replace(found, noun=told.thing.noun)
        return replace(found, noun=clause.object.noun) if isinstance(clause.object, NounPhrase) else found

    def mentions(self, fact: Fact, role: Role) -> list[Mention]:
        """Where the text says that of a fact: in its sentence, or else before it; other words for it follow."""
        clause = fact.clause
        if role == "when":
            assert clause.time is not None
            return self._find([time_phrase(clause.time)], fact.number, is_only_here=True)
        if role == "how long":
            assert clause.time is not None
            return self._find([time_phrase(clause.time).removeprefix("for ")], fact.number, is_only_here=True)
        if role == "why":
            return self._reason(fact.number)
        if role == "like":
            assert isinstance(clause.predicate, Quality)
            return self._find([clause.predicate.adjective.english], fact.number, is_only_here=True)
        if role in ("who", "whom"):
            name = fact.whom if role == "whom" else fact.people[0]
            assert name is not None
            return self._find([name.english], fact.number)
        if role == "where":
            return self._place(fact)
        return self._thing(fact)

    def _reason(self, number: int) -> list[Mention]:
        sentence = self.sentences[number]
        start = sentence.index("because ") + len("because ")
        return [Mention(sentence[start:-1], self._starts[number] + start)]

    def _place(self, fact: Fact) -> list[Mention]:
        complement = fact.clause.complement
        if fact.clause.verb.german == "wohnen" and isinstance(complement, PrepositionalPhrase):
            return self._find([nominal(complement.nominal)], fact.number, is_only_here=True)
        assert fact.place is not None
        return self._find([f"the {fact.place.english}"], fact.number)

    def _thing(self, fact: Fact) -> list[Mention]:
        """First as its own sentence calls it, or the one before; then by the names it has up to there."""
        noun = fact.noun
        names: list[str] = []
        for number in range(fact.number, -1, -1):
            clause = self.story.told[number].meaning.clause
            for value in (clause.object, clause.subject):
                if isinstance(value, NounPhrase) and value.noun is noun and clause.verb.german != "brauchen":
                    names.append(nominal(value))
        return self._find(list(dict.fromkeys(names)), fact.number)

    def last(self, name: Name) -> Mention:
        """Where somebody is named last."""
        return self._find([name.english], len(self.sentences) - 1)[0]

    def _find(self, names: list[str], number: int, is_only_here: bool = False) -> list[Mention]:
        """The last mention of each name from a sentence backwards."""
        found = []
        for name in names:
            pattern = re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE)
            for place in range(number, number - 1 if is_only_here else -1, -1):
                here = pattern.search(self.sentences[place])
                if here:
                    found.append(Mention(here[0], self._starts[place] + here.start()))
                    break
        return found
