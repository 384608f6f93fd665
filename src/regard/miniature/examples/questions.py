"""Questions about stories with their answer spans, or with none where the story does not answer."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Final, NamedTuple, TypeVar

from regard.miniature.english import in_english
from regard.miniature.examples.drawing import first
from regard.miniature.lexicon import Noun, lexicon
from regard.miniature.meaning import GAP, Clause, Meaning, NamedEntity, NounPhrase
from regard.miniature.sampling.choices import Draw
from regard.miniature.stories.cast import THINGS
from regard.miniature.stories.facts import Account, Asked, Fact, Mention, Role
from regard.miniature.stories.scene import at, to
from regard.miniature.stories.telling import stories

Item = TypeVar("Item")

_WORDS = lexicon()
_A_STORY: Final = 4
_UNANSWERABLE: Final = 0.3
_TRIES: Final = 12
# Deeds of which a story tells each, so that what it does not tell did not happen.
_COMPLETE: Final = ("verlieren", "finden", "kaufen", "nehmen", "geben", "zeigen", "gehen")
_GETTING: Final = ("verlieren", "finden", "kaufen", "nehmen")
_LOCAL: Final = frozenset({"verlieren", "finden", "kaufen", "suchen", "essen", "trinken", "sehen"})
# What can be asked of a deed; of any other nothing.
_ROLES: Final[dict[str, tuple[Role, ...]]] = {
    "verlieren": ("who", "what", "where"),
    "finden": ("who", "what", "where"),
    "kaufen": ("who", "what", "where"),
    "suchen": ("who", "what"),
    "nehmen": ("who", "what"),
    "geben": ("who", "whom", "what"),
    "zeigen": ("who", "whom", "what"),
    "danken": ("who", "whom"),
    "begrüßen": ("who", "whom"),
    "umarmen": ("who", "whom"),
    "gehen": ("who", "whom", "where", "when"),
    "wohnen": ("where",),
    "relation": ("who",),
    "essen": ("what", "where"),
    "trinken": ("what", "where"),
    "sehen": ("what",),
    "sein": ("where",),
    "mood": ("why",),
    "look": ("like",),
    "singen": ("where", "how long"),
    "tanzen": ("where", "how long"),
    "arbeiten": ("where", "how long"),
    "warten": ("where", "how long"),
    "sich ausruhen": ("where", "how long"),
}


class StoryQuestion(NamedTuple):
    """A story, a question about it, and the words of the story that answer it: the best ones first, or none."""

    title: str
    context: str
    question: str
    answers: tuple[Mention, ...]


def questions(split: str, count: int | None = None, seed: int = 0) -> Iterator[StoryQuestion]:
    """The first questions of a split, four to a story: as many as asked for, or as the split has by default."""
    return first(split, count, _questions(split, seed))


def _questions(split: str, seed: int) -> Iterator[StoryQuestion]:
    for number, story in enumerate(stories(split, seed)):
        draw = Random(f"{seed}:{split}:questions {number}").random
        account = Account(story)
        said: set[str] = set()
        for _ in range(_A_STORY):
            ask = ask_in_vain if draw() < _UNANSWERABLE else ask_for_a_fact
            text, words = ask(account, draw)
            if text and text not in said:
                said.add(text)
                yield StoryQuestion(story.title, account.text, text, words)


def ask_for_a_fact(account: Account, draw: Draw) -> tuple[str, tuple[Mention, ...]]:
    """A question that the story answers in one way, and the words that do."""
    askable: dict[Role, list[Fact]] = {"end": held_at_the_end(account)}
    for fact in account.facts:
        for role in roles_of(fact):
            askable.setdefault(role, []).append(fact)
    for _ in range(_TRIES):
        role = _pick(draw, list(askable))  # the roles alike, however many questions each has
        if role == "end" and askable[role]:
            return _ask_for_the_end(account, _pick(draw, askable[role]))
        ways = [(fact, asked) for fact in askable[role] for asked in _ways_to_ask(fact, role)]
        if not ways:
            continue
        fact, asked = _pick(draw, ways)
        if all(_answer(other, role) == _answer(fact, role) for other in account.facts if asked.fits(other)):
            words = account.mentions(fact, role)
            assert words, f"{account.text}: nothing says {role} of {fact}"
            return in_words(asked, role), tuple(words)
    return "", ()


def ask_in_vain(account: Account, draw: Draw) -> tuple[str, tuple[Mention, ...]]:
    """A question about what has not happened in the story, in its own words but for one."""
    facts = [fact for fact in account.facts if fact.deed in _COMPLETE]
    for _ in range(_TRIES):
        fact = _pick(draw, facts)
        role = _pick(draw, roles_of(fact))
        asked = next(_ways_to_ask(fact, role), None)
        changed = _changed(account, asked, role, draw) if asked else []
        if changed:
            other = _pick(draw, changed)
            is_sound = other.who is None or other.who is not other.whom
            if is_sound and not any(other.fits(one) for one in account.facts):
                return in_words(other, role), ()
    return "", ()


def _changed(account: Account, asked: Asked, role: Role, draw: Draw) -> list[Asked]:
    """Questions like this one but for one word."""
    facts = account.facts
    changed = [
        asked._replace(who=name) for name in _those(name for fact in facts for name in fact.people) if asked.who
    ]
    changed += [asked._replace(who=asked.whom, whom=asked.who)] if asked.who and asked.whom else []
    if asked.noun:
        nouns = [noun for fact in facts if (noun := fact.noun) and noun in THINGS.items]
        changed += [asked._replace(noun=noun) for noun in _those([*nouns, THINGS(draw)])]
    places = [place for fact in facts if (place := fact.place) and fact.deed != "wohnen"]
    if asked.place or (asked.deed in _LOCAL and role != "where"):
        changed += [asked._replace(place=place) for place in _those(places)]
    return changed + _instead(asked, role)


def _those(items: Iterable[Item]) -> list[Item]:
    return list(dict.fromkeys(items))


def _pick(draw: Draw, items: Sequence[Item]) -> Item:
    return items[int(draw() * len(items))]


def roles_of(fact: Fact) -> list[Role]:
    """What can be asked of a fact."""
    return [role for role in _ROLES.get(fact.deed.partition(" ")[0], ()) if fact.has(role)]


def _instead(asked: Asked, role: Role) -> list[Asked]:
    """The same of another deed that brings somebody a thing, or takes it away."""
    return [
        asked._replace(deed=deed, clause=replace(asked.clause, verb=_WORDS.verb(deed)))
        for deed in _GETTING
        if asked.deed in _GETTING and role in _ROLES[deed] and (asked.place is None or deed in _LOCAL)
    ]


def _ways_to_ask(fact: Fact, role: Role) -> Iterator[Asked]:
    """A fact without one of its roles; where it happened is told or not."""
    if role == "where" and (not fact.people or (len(fact.people) > 1 and fact.deed != "gehen")):
        return
    has_company = fact.clause.company is not None
    asked = Asked(
        fact.named,
        fact.deed,
        None if role == "who" or not fact.people else fact.people[0],
        None if role == "whom" or (has_company and role != "who") else fact.whom,
        None if role == "what" else fact.noun,
        fact.place if fact.deed in ("gehen", "look") and role != "where" else None,
    )
    yield asked
    if fact.place and fact.deed in _LOCAL and role != "where":
        yield asked._replace(place=fact.place)


def _answer(fact: Fact, role: Role) -> object:
    """What a fact says in a role; facts that say different things cannot be asked for together."""
    if not fact.has(role):
        return None
    clause = fact.clause
    return {
        "who": fact.people[:1],
        "whom": fact.whom,
        "what": fact.noun,
        "where": fact.place or clause.complement,
        "when": clause.time,
        "how long": clause.time,
        "why": fact.number,
        "like": fact.number,
    }[role]


def held_at_the_end(account: Account) -> list[Fact]:
    """Of each thing that somebody has when the story is over, the fact that brought it there."""
    last: dict[Noun, Fact] = {}
    for fact in account.facts:
        if fact.noun and "portable" in fact.noun.classes and fact.deed in ("haben", "geben", *_GETTING):
            last[fact.noun] = fact
    return [fact for fact in last.values() if fact.deed != "verlieren"]


def _ask_for_the_end(account: Account, fact: Fact) -> tuple[str, tuple[Mention, ...]]:
    holder = fact.whom if fact.deed == "geben" else fact.people[0]
    assert fact.noun is not None and holder is not None
    return f"Who had the {fact.noun.english} in the end?", (account.last(holder),)


def in_words(asked: Asked, role: Role) -> str:
    """The question."""
    clause = _renamed(asked)
    if asked.deed == "relation":
        assert isinstance(clause.predicate, NounPhrase) and asked.whom is not None
        predicate = NounPhrase(clause.predicate.noun, possessor=NamedEntity(asked.whom))
        return in_english(Meaning(replace(clause, subject=GAP, predicate=predicate), asked="who"))
    if role == "who":
        return in_english(Meaning(replace(clause, subject=GAP), asked="who"))
    if role == "whom":
        if clause.recipient:
            return _with_rest(in_english(Meaning(replace(clause, recipient=None), asked="who")), "to")
        if clause.company:
            return _with_rest(in_english(Meaning(replace(clause, company=None), asked="who")), "with")
        return in_english(Meaning(replace(clause, object=GAP), asked="who"))
    if role == "what":
        return in_english(Meaning(replace(clause, object=GAP), asked="what"))
    if role == "where":
        return in_english(Meaning(replace(clause, complement=None), asked="where"))
    if role == "like":
        return _with_rest(in_english(Meaning(replace(clause, predicate=None), asked="what")), "like")
    if role == "how long":
        return in_english(Meaning(clause, asked="when")).replace("When", "How long", 1)
    return in_english(Meaning(clause, asked="when" if role == "when" else "why"))


def _with_rest(question: str, word: str) -> str:
    return f"{question.removesuffix('?')} {word}?"


def _renamed(asked: Asked) -> Clause:
    """The clause with what is asked for in its roles."""
    clause = asked.clause
    if asked.who:
        clause = replace(clause, subject=NamedEntity(asked.who))
    if asked.whom and clause.recipient:
        clause = replace(clause, recipient=NamedEntity(asked.whom))
    elif asked.whom and clause.company:
        clause = replace(clause, company=replace(clause.company, nominal=NamedEntity(asked.whom)))
    elif asked.whom and clause.object:
        clause = replace(clause, object=NamedEntity(asked.whom))
    if asked.noun and isinstance(clause.object, NounPhrase):
        clause = replace(clause, object=replace(clause.object, noun=asked.noun))
    if asked.place:
        if clause.verb.frame == "motion":
            return replace(clause, complement=to(asked.place))
        if clause.verb.frame in ("object", "alone"):
            return replace(clause, place=at(asked.place))
    return clause
