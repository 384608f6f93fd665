"""Story sentences besides the plot: who people are, how they feel, what they do meanwhile."""

from dataclasses import replace
from typing import Final

from regard.miniature.lexicon import Name, Noun, Verb, lexicon
from regard.miniature.meaning import (
    Circumstance,
    Clause,
    Content,
    Lasting,
    NamedEntity,
    NounPhrase,
    PrepositionalPhrase,
    Quality,
)
from regard.miniature.sampling.choices import RandomChoice, adjectives_of, among, names_of, nouns_of, pick
from regard.miniature.stories.cast import Thing, sex_of
from regard.miniature.stories.deeds import BE, LOSE, Wrong, against_place
from regard.miniature.stories.scene import OWNERS, Scene, pronoun

_WORDS = lexicon()
_LIVE: Final = _WORDS.verb("wohnen")
_RAIN: Final = Clause(_WORDS.verb("regnen"), tense="narrated")
_TOWN: Final = _WORDS.preposition("town")
_HOMES: Final = RandomChoice(
    {
        _WORDS.nouns[german]: weight
        for german, weight in (("Dorf", 3), ("Stadt", 3), ("Hütte", 1), ("Insel", 1), ("Tal", 1))
    }
)
_RELATIONS: Final = {
    "m": ("Freund", "Nachbar", "Kollege", "Bruder", "Onkel", "Neffe"),
    "f": ("Freundin", "Nachbarin", "Kollegin", "Schwester", "Tante", "Nichte"),
}
_MOODS: Final = {True: ("glücklich", "fröhlich"), False: ("traurig", "wütend")}
_VERY: Final = _WORDS.adverbs["sehr"]
_BECAUSE: Final = _WORDS.conjunctions["weil"]
_THAT: Final = _WORDS.conjunctions["dass"]
_SAY: Final = _WORDS.verb("sagen")
_THANK: Final = _WORDS.verb("danken")
_MEANWHILE: Final = among(
    _WORDS.verb(german, "alone")
    for german in ("sich ausruhen", "singen", "warten", "tanzen", "arbeiten", "lachen", "lächeln")
)
_CONSUME: Final = {"essen": nouns_of("fruit", "baked", "dish"), "trinken": nouns_of("drink")}
_LOOKS: Final = tuple(
    _WORDS.adjectives[german] for german in ("klein", "groß", "alt", "jung", "schön", "hungrig", "weiß", "braun")
)
_HOUR: Final = _WORDS.nouns["Stunde"]
_GREET: Final = RandomChoice(
    {_WORDS.verb(german): weight for german, weight in (("begrüßen", 3), ("umarmen", 2), ("sehen", 1))}
)


def live(scene: Scene, who: Name) -> None:
    """Where somebody lives."""
    if scene.draw() < 0.35:
        where = PrepositionalPhrase(_TOWN, NamedEntity(names_of("town")(scene.draw)))
    else:
        noun = _HOMES(scene.draw)
        choice = adjectives_of(noun, 1)
        adjectives = (choice(scene.draw),) if choice and scene.draw() < 0.7 else ()
        where = PrepositionalPhrase(noun.where[0], NounPhrase(noun, "indefinite", adjectives=adjectives))
    scene.say(Clause(_LIVE, scene.person(who), complement=where, tense="narrated"), who)


def relate(scene: Scene, who: Name, hero: Name) -> None:
    """What somebody is to the hero of the story, who alone has been named before."""
    noun = _WORDS.nouns[pick(scene.draw, _RELATIONS[sex_of(who)])]
    clause = Clause(BE, NamedEntity(who), predicate=NounPhrase(noun, OWNERS[sex_of(hero)]), tense="narrated")
    scene.say(clause, who, others=[hero])


def rain(scene: Scene) -> None:
    """It rains."""
    scene.say(_RAIN, None)


def feel(scene: Scene, who: Name, is_glad: bool, reason: Clause | None = None) -> None:
    """How somebody takes what has happened, and perhaps why."""
    place = 0 if scene.draw() < 0.7 else 1
    right, wrong = (
        Quality(_WORDS.adjectives[_MOODS[mood][place]], degree)
        for degree in [_VERY if reason is None and scene.draw() < 0.4 else None]
        for mood in (is_glad, not is_glad)
    )
    circumstance = Circumstance(_BECAUSE, reason) if reason else None
    clause = Clause(BE, scene.person(who), predicate=right, tense="narrated", circumstance=circumstance)
    scene.say(clause, who, wrong=[("mood", {"predicate": wrong})])


def having_lost(who: Name, thing: Thing) -> Clause:
    """That somebody had lost a thing, inside a sentence about the same person."""
    return Clause(LOSE, pronoun(who), NounPhrase(thing.noun, OWNERS[sex_of(who)]), tense="earlier")


def say_lost(scene: Scene, who: Name, thing: Thing) -> None:
    """Somebody says what they have lost."""
    content = Content(_THAT, having_lost(who, thing))
    scene.say(Clause(_SAY, scene.person(who), tense="narrated", content=content), who, thing=thing)


def thank(scene: Scene, who: Name, whom: Name) -> None:
    """Somebody thanks somebody."""
    clause = Clause(_THANK, scene.person(who), scene.other_person(whom, who), tense="narrated")
    scene.say(clause, who, others=[whom])


def greet(scene: Scene, who: Name, whom: Name) -> None:
    """Somebody greets somebody at the same place."""
    clause = Clause(_GREET(scene.draw), scene.person(who), scene.other_person(whom, who), tense="narrated")
    scene.say(clause, who, others=[whom])


def meanwhile(scene: Scene, who: Name) -> None:
    """Something that somebody does where they are, or what it is like there."""
    value = scene.draw()
    if value < 0.45:
        _pass_the_time(scene, who)
    elif value < 0.65:
        _consume(scene, who)
    elif value < 0.8:
        _see_an_animal(scene, who)
    elif not scene.is_described:
        _describe(scene, scene.where[who])
    else:
        _pass_the_time(scene, who)


def _pass_the_time(scene: Scene, who: Name) -> None:
    verb: Verb = _MEANWHILE(scene.draw)
    lasting = Lasting(2 + int(scene.draw() * 4), _HOUR) if "durative" in verb.facts and scene.draw() < 0.35 else None
    _do_here(scene, who, Clause(verb, tense="narrated", time=lasting), "place" in verb.facts)


def _consume(scene: Scene, who: Name) -> None:
    german = "essen" if scene.draw() < 0.5 else "trinken"
    noun = _CONSUME[german](scene.draw)
    _do_here(scene, who, Clause(_WORDS.verb(german), object=NounPhrase(noun, "indefinite"), tense="narrated"))


def _see_an_animal(scene: Scene, who: Name) -> None:
    noun = nouns_of("pet", "livestock", "bird")(scene.draw)
    fitting = [adjective for adjective in _LOOKS if noun in adjective.fits]
    adjectives = (pick(scene.draw, fitting),) if scene.draw() < 0.6 else ()
    phrase = NounPhrase(noun, "indefinite", adjectives=adjectives)
    _do_here(scene, who, Clause(_WORDS.verb("sehen"), object=phrase, tense="narrated"))


def _do_here(scene: Scene, who: Name, clause: Clause, has_place: bool = True) -> None:
    together = [name for name, place in scene.where.items() if place is scene.where[who] and name is not who]
    place = scene.here(who) if has_place else None
    if together and scene.draw() < 0.5:
        clause = replace(clause, subject=scene.both(who, together[0]), place=place)
        wrong: Wrong = against_place(scene, clause, who)
        scene.say(clause, None, others=[who, together[0]], place=scene.where[who] if place else None, wrong=wrong)
        return
    clause = replace(clause, subject=scene.person(who), place=place)
    wrong = against_place(scene, clause, who)
    scene.say(clause, who, place=scene.where[who] if place else None, wrong=wrong)


def _describe(scene: Scene, place: Noun) -> None:
    choice = adjectives_of(place, 1)
    assert choice is not None
    degree = _VERY if scene.draw() < 0.3 else None
    clause = Clause(BE, NounPhrase(place), predicate=Quality(choice(scene.draw), degree), tense="narrated")
    scene.is_described = True
    scene.say(clause, None, place=place)
