"""Story events that change who is where and who has what."""

from typing import Final, Literal

from regard.miniature.lexicon import Name, Noun, Verb, lexicon
from regard.miniature.meaning import Clause, NamedEntity, Nominal, NounPhrase, PrepositionalPhrase
from regard.miniature.sampling.choices import RandomChoice, pick
from regard.miniature.stories.cast import Thing, sex_of
from regard.miniature.stories.scene import OWNERS, Kind, Parts, Scene, at, known, to

_WORDS = lexicon()
BE: Final = _WORDS.verb("sein")
HAVE: Final = _WORDS.verb("haben")
LOSE: Final = _WORDS.verb("verlieren")
GIVE: Final = _WORDS.verb("geben", "recipient")
_DRIVE: Final = _WORDS.verb("fahren")
_GO: Final = RandomChoice({_WORDS.verb("gehen"): 5, _DRIVE: 2, _WORDS.verb("wandern"): 1})
_COME: Final = _WORDS.verb("kommen")
_STAY: Final = RandomChoice({BE: 4, _WORDS.verb("bleiben"): 1, _WORDS.verb("sitzen"): 1})
_FIND: Final = _WORDS.verb("finden")
_TAKE: Final = RandomChoice({_WORDS.verb("nehmen"): 1, _WORDS.verb("holen"): 2})
_BUY: Final = _WORDS.verb("kaufen")
_SHOW: Final = _WORDS.verb("zeigen")
_LOOK_FOR: Final = _WORDS.verb("suchen")
_HAND_OVER: Final[dict[str, RandomChoice[Verb]]] = {
    "give": RandomChoice({GIVE: 4, _WORDS.verb("reichen"): 1}),
    "bring": RandomChoice({_WORDS.verb("bringen"): 2, GIVE: 1}),
    "lend": RandomChoice({_WORDS.verb("leihen"): 1}),
}
_COMPANY: Final = _WORDS.preposition("company", "mit")
_AGAIN: Final = _WORDS.adverbs["wieder"]
_NOW: Final = _WORDS.adverbs["jetzt"]
_FINALLY: Final = _WORDS.adverbs["endlich"]

Wrong = list[tuple[Kind, Parts]]


def go(scene: Scene, who: Name, place: Noun, companion: Name | None = None) -> None:
    """Somebody moves to a place, perhaps with somebody who is at the same one."""
    is_awaited = place in scene.where.values()
    verb = _COME if is_awaited and scene.draw() < 0.35 else _GO(scene.draw)
    if place not in verb.targets or (verb is _DRIVE and to(place).preposition.english == "into"):
        verb = _WORDS.verb("gehen")
    time = scene.pass_time()
    company = PrepositionalPhrase(_COMPANY, scene.other_person(companion, who)) if companion else None
    wrong: Wrong = [("place", {"complement": to(scene.where[who])})] if who in scene.where else []
    clause = Clause(
        verb, scene.person(who), complement=to(place), tense="narrated", time=time, front="time", company=company
    )
    scene.where[who] = place
    if companion:
        scene.where[companion] = place
    scene.say(clause, who, others=[companion] if companion else [], place=place, wrong=wrong)


def be_at(scene: Scene, who: Name, place: Noun) -> None:
    """Somebody is at a place: for the first time, or still."""
    verb = _STAY(scene.draw)
    if verb is not BE and place not in verb.targets:
        verb = BE
    wrong: Wrong = []
    if elsewhere := scene.elsewhere(who):
        wrong.append(("place", {"complement": at(elsewhere)}))
    scene.where[who] = place
    clause = Clause(verb, scene.person(who), complement=at(place), tense="narrated")
    scene.say(clause, who, place=place, wrong=wrong)


def have(scene: Scene, who: Name, thing: Thing, how: Literal["", "now", "again", "finally"] = "") -> None:
    """Somebody has a thing: for the first time in the story, or as it has told."""
    subject, phrase = scene.person(who), scene.thing(thing, who, is_light=not how)
    wrong = against_holder(scene, subject, phrase, thing, who)
    clause = Clause(
        HAVE,
        subject,
        phrase,
        tense="narrated",
        manner=_AGAIN if how in ("again", "finally") else None,
        stance=_FINALLY if how == "finally" else None,
        time=_NOW if how == "now" else scene.pass_time() if how == "again" else None,
        front="time",
    )
    _keep(scene, who, thing)
    scene.say(clause, who, thing=thing, wrong=wrong)


def lose(scene: Scene, who: Name, thing: Thing) -> None:
    """Somebody loses a thing where they are."""
    subject, phrase = scene.person(who), scene.thing(thing, who)
    wrong = against_holder(scene, subject, phrase, thing, who)
    place = scene.where[who]
    clause = Clause(LOSE, subject, phrase, tense="narrated", place=scene.here(who))
    wrong += against_place(scene, clause, who)
    _keep(scene, who, thing)
    scene.holders[thing] = place
    scene.say(clause, who, thing=thing, place=place, wrong=wrong)


def look_for(scene: Scene, who: Name, thing: Thing) -> None:
    """Somebody looks for a lost thing, and does not find it yet."""
    clause = Clause(_LOOK_FOR, scene.person(who), scene.thing(thing, who), tense="narrated", place=scene.here(who))
    wrong = against_place(scene, clause, who)
    scene.say(clause, who, thing=thing, place=scene.where[who], wrong=wrong)


def find(scene: Scene, who: Name, thing: Thing) -> None:
    """Somebody finds a thing that was lost or left where they are."""
    place = scene.where[who]
    phrase = scene.thing(thing, who)
    clause = Clause(_FIND, scene.person(who), phrase, tense="narrated", place=scene.here(who))
    wrong = against_place(scene, clause, who)
    other = scene.other_thing(thing, place)
    if other and is_plain(phrase):
        wrong.append(("thing", {"object": known(other)}))
    scene.holders[thing] = who
    scene.say(clause, who, thing=thing, place=place, wrong=wrong)


def lie(scene: Scene, thing: Thing, place: Noun) -> None:
    """A thing is at a place, where somebody has left it."""
    clause = Clause(BE, NounPhrase(thing.noun), complement=at(place), tense="narrated")
    wrong: Wrong = [
        ("place", {"complement": at(other)})
        for other in scene.named_places
        if other is not place and thing in scene.holders
    ]
    scene.holders[thing] = place
    scene.say(clause, None, thing=thing, place=place, wrong=wrong[:1])


def take(scene: Scene, who: Name, thing: Thing) -> None:
    """Somebody takes a thing that is where they are."""
    phrase = scene.thing(thing, who)
    clause = Clause(_TAKE(scene.draw), scene.person(who), phrase, tense="narrated")
    other = scene.other_thing(thing, scene.where[who])
    wrong: Wrong = [("thing", {"object": known(other)})] if other and is_plain(phrase) else []
    scene.holders[thing] = who
    scene.say(clause, who, thing=thing, wrong=wrong)


def buy(scene: Scene, who: Name, thing: Thing) -> None:
    """Somebody buys a new thing where they are."""
    clause = Clause(_BUY, scene.person(who), scene.thing(thing, who), tense="narrated", place=scene.here(who))
    wrong = against_place(scene, clause, who)
    scene.holders[thing] = who
    scene.say(clause, who, thing=thing, place=scene.where[who], wrong=wrong)


def hand_over(
    scene: Scene, giver: Name, thing: Thing, taker: Name, how: Literal["give", "bring", "lend"] = "give"
) -> None:
    """A thing passes from its holder to somebody at the same place."""
    subject, recipient = scene.person(giver), scene.other_person(taker, giver)
    phrase = _passing(scene, thing, giver, taker)
    wrong = against_holder(scene, subject, phrase, thing, giver)
    for kind, parts in wrong:
        if kind == "holder":
            # Who does not have it cannot give it, least of all to who has.
            parts |= {"subject": NamedEntity(taker), "recipient": NamedEntity(giver)}
    clause = Clause(_HAND_OVER[how](scene.draw), subject, phrase, recipient, tense="narrated")
    scene.holders[thing] = taker
    if how != "lend" and scene.owners.get(thing) is giver:
        del scene.owners[thing]
    scene.say(clause, giver, others=[taker], thing=thing, wrong=wrong)


def show(scene: Scene, who: Name, thing: Thing, whom: Name) -> None:
    """Somebody shows a thing, and keeps it."""
    subject, recipient = scene.person(who), scene.other_person(whom, who)
    phrase = _passing(scene, thing, who, whom)
    wrong = [item for item in against_holder(scene, subject, phrase, thing, who) if item[0] == "thing"]
    scene.say(
        Clause(_SHOW, subject, phrase, recipient, tense="narrated"), who, others=[whom], thing=thing, wrong=wrong
    )


def _passing(scene: Scene, thing: Thing, who: Name, whom: Name) -> Nominal:
    """A thing between two people; `her` would not say whose where both are women."""
    phrase = scene.thing(thing, who, is_light=False)
    is_own = isinstance(phrase, NounPhrase) and phrase.determiner in OWNERS.values()
    return known(thing) if is_own and sex_of(who) == sex_of(whom) else phrase


def _keep(scene: Scene, who: Name, thing: Thing) -> None:
    """Somebody has a thing; one that is new to the story is their own."""
    if thing not in scene.holders:
        scene.owners[thing] = who
    scene.holders[thing] = who


_USES: Final = tuple(
    _WORDS.verb(german, "object")
    for german in (
        "lesen",
        "spielen",
        "anziehen",
        "anmachen",
        "benutzen",
        "auspacken",
        "bewundern",
        "tragen",
        "anschauen",
    )
)


def use(scene: Scene, who: Name, thing: Thing) -> bool:
    """Whoever has a thing uses it, if anything can be done with it."""
    verbs = [verb for verb in _USES if thing.noun in verb.objects]
    if not verbs:
        return False
    verb = pick(scene.draw, verbs)
    subject, phrase = scene.person(who), scene.thing(thing, who)
    wrong = [item for item in against_holder(scene, subject, phrase, thing, who) if item[0] == "holder"]
    place = scene.here(who) if who in scene.where and "place" in verb.facts else None
    clause = Clause(verb, subject, phrase, tense="narrated", place=place)
    wrong += against_place(scene, clause, who)
    scene.say(clause, who, thing=thing, place=scene.where[who] if place else None, wrong=wrong)
    return True


def is_plain(phrase: Nominal | None) -> bool:
    """Whether a phrase is `the` and a noun, so that another can take its place."""
    return isinstance(phrase, NounPhrase) and phrase.determiner == "definite" and phrase.possessor is None


def against_holder(scene: Scene, subject: Nominal, phrase: Nominal, thing: Thing, who: Name) -> Wrong:
    """Somebody else in the place of who has a thing, and another thing in the place of this one."""
    wrong: Wrong = []
    if thing not in scene.holders or (isinstance(phrase, NounPhrase) and not is_plain(phrase)):
        return wrong
    if isinstance(subject, NamedEntity) and (other := scene.without(thing)) and scene.is_telling(other):
        wrong.append(("holder", {"subject": NamedEntity(other)}))
    if is_plain(phrase) and (another := scene.other_thing(thing, who)):
        wrong.append(("thing", {"object": known(another)}))
    return wrong


def against_place(scene: Scene, clause: Clause, who: Name) -> Wrong:
    """Another place of the story in the place of where somebody is."""
    elsewhere = scene.elsewhere(who)
    if elsewhere and isinstance(clause.place, PrepositionalPhrase):
        return [("place", {"place": at(elsewhere)})]
    return []
