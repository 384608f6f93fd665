"""Plots: each moves a thing between people and places to an ending that answers the beginning."""

from collections.abc import Callable
from typing import Final, NamedTuple

from regard.miniature.lexicon import Name, lexicon
from regard.miniature.meaning import Clause, Coordination, NamedEntity, NounPhrase
from regard.miniature.sampling.choices import RandomChoice, pick
from regard.miniature.stories import asides, deeds
from regard.miniature.stories.cast import STORES, Thing
from regard.miniature.stories.endings import close_given, close_regained
from regard.miniature.stories.scene import Scene, known

_WORDS = lexicon()
_NEED: Final = _WORDS.verb("brauchen")
_WANT: Final = _WORDS.modals["wollen"]
_PRESENT: Final = NounPhrase(_WORDS.nouns["Geschenk"], "indefinite")


class Plot(NamedTuple):
    """How a story is told, how many sentences it cannot do without, and its title."""

    tell: Callable[[Scene], None]
    length: int
    title: Callable[[Scene], NounPhrase | Coordination]

    @property
    def name(self) -> str:
        """What happens, in a word or two."""
        return self.tell.__name__.strip("_").replace("_", " ")


def _introduce(scene: Scene) -> None:
    """The hero, and often what the friend is to the hero."""
    hero, friend, _ = scene.plan.people
    if scene.has_room(0.6):
        asides.live(scene, hero)
        if scene.has_room(0.6):
            asides.relate(scene, friend, hero)


def _lost(scene: Scene) -> None:
    """The hero loses a thing; the friend, or the hero, finds it again."""
    hero, friend, _ = scene.plan.people
    thing, other = scene.plan.thing, scene.plan.other
    first, second, _ = scene.plan.places
    _introduce(scene)
    deeds.have(scene, hero, thing)
    _mind_the_other(scene, friend, other)
    deeds.go(scene, hero, first)
    _meanwhile(scene, hero, 0.3)
    deeds.lose(scene, hero, thing)
    if scene.has_room(0.5):
        asides.feel(scene, hero, False, asides.having_lost(hero, thing) if scene.draw() < 0.4 else None)
    if scene.has_room(0.2):
        deeds.look_for(scene, hero, thing)
    deeds.be_at(scene, friend, second)
    deeds.go(scene, hero, second)
    if scene.has_room(0.5):
        asides.say_lost(scene, hero, thing)
    if scene.draw() < 0.4:
        deeds.go(scene, hero, first, friend)
        deeds.find(scene, hero, thing)
    else:
        deeds.go(scene, friend, first)
        deeds.find(scene, friend, thing)
        deeds.go(scene, friend, second)
        deeds.hand_over(scene, friend, thing, hero, "bring")
        if scene.has_room(0.4):
            asides.thank(scene, hero, friend)
    close_regained(scene, hero, thing)


def _lent(scene: Scene) -> None:
    """The hero lends a thing to the friend, who uses it and gives it back."""
    hero, friend, _ = scene.plan.people
    thing, other = scene.plan.thing, scene.plan.other
    first, second, _ = scene.plan.places
    _introduce(scene)
    deeds.have(scene, hero, thing)
    _mind_the_other(scene, friend, other)
    deeds.go(scene, hero, first)
    _meanwhile(scene, hero, 0.3)
    _need(scene, friend, thing)
    deeds.go(scene, friend, first)
    _greet(scene, friend, hero, 0.3)
    deeds.hand_over(scene, hero, thing, friend, "lend")
    deeds.go(scene, friend, second)
    if scene.has_room(0.7):
        deeds.use(scene, friend, thing)
    _meanwhile(scene, friend, 0.4)
    if scene.has_room(0.3):
        deeds.be_at(scene, hero, first)
    deeds.go(scene, friend, first)
    deeds.hand_over(scene, friend, thing, hero)
    if scene.has_room(0.4):
        asides.thank(scene, friend, hero)
    close_regained(scene, hero, thing)


def _gift(scene: Scene) -> None:
    """The hero wants to make the friend a present, buys it and brings it."""
    hero, friend, _ = scene.plan.people
    thing, other = scene.plan.thing, scene.plan.other
    store, second = pick(scene.draw, STORES), next(p for p in scene.plan.places if p not in STORES)
    _introduce(scene)
    wish = Clause(deeds.GIVE, scene.person(hero), _PRESENT, NamedEntity(friend), tense="narrated", modal=_WANT)
    scene.say(wish, hero, others=[friend])
    deeds.go(scene, hero, store)
    _meanwhile(scene, hero, 0.4)
    deeds.buy(scene, hero, thing)
    if scene.has_room(0.4):
        asides.rain(scene)
    deeds.be_at(scene, friend, second)
    _mind_the_other(scene, friend, other)
    _meanwhile(scene, friend, 0.4)
    deeds.go(scene, hero, second)
    _greet(scene, hero, friend, 0.4)
    deeds.hand_over(scene, hero, thing, friend)
    if scene.has_room(0.6):
        deeds.use(scene, friend, thing)
    if scene.has_room(0.4):
        asides.thank(scene, friend, hero)
    close_given(scene, hero, thing, friend)


def _errand(scene: Scene) -> None:
    """The friend needs a thing that is somewhere else, and the hero fetches it."""
    hero, friend, _ = scene.plan.people
    thing = scene.plan.thing
    first, second, third = scene.plan.places
    _introduce(scene)
    deeds.be_at(scene, hero, first)
    deeds.be_at(scene, friend, second)
    _meanwhile(scene, friend, 0.3)
    _need(scene, friend, thing)
    deeds.lie(scene, thing, third)
    deeds.go(scene, hero, third)
    _meanwhile(scene, hero, 0.4)
    deeds.take(scene, hero, thing)
    if scene.has_room(0.3):
        deeds.have(scene, hero, thing, "now")
    deeds.go(scene, hero, second)
    _greet(scene, hero, friend, 0.3)
    deeds.hand_over(scene, hero, thing, friend, "bring")
    if scene.has_room(0.4):
        asides.thank(scene, friend, hero)
    close_given(scene, hero, thing, friend)


def _swapped(scene: Scene) -> None:
    """Two people swap their things, and sometimes back again."""
    hero, friend, _ = scene.plan.people
    thing, other = scene.plan.thing, scene.plan.other
    first, second, _ = scene.plan.places
    _introduce(scene)
    deeds.have(scene, hero, thing)
    deeds.have(scene, friend, other)
    deeds.be_at(scene, friend, first)
    deeds.go(scene, hero, first)
    _greet(scene, hero, friend, 0.4)
    deeds.hand_over(scene, hero, thing, friend)
    deeds.hand_over(scene, friend, other, hero)
    if scene.has_room(0.5):
        deeds.go(scene, hero, second, friend if scene.draw() < 0.5 else None)
    if scene.has_room(0.7):
        deeds.use(scene, hero, other)
    _meanwhile(scene, hero, 0.4)
    if scene.has_room(0.7):
        deeds.use(scene, friend, thing)
    one, two = (friend, thing), (hero, other)
    if scene.draw() < 0.5:
        one, two = two, one
    if scene.has_room(0.5):
        asides.feel(scene, two[0], True)
    deeds.have(scene, *one, "now")
    deeds.have(scene, *two)


def _passed_on(scene: Scene) -> None:
    """A thing that the hero has lost comes back through two pairs of hands."""
    hero, friend, third = scene.plan.people
    thing = scene.plan.thing
    first, second, last = scene.plan.places
    deeds.go(scene, hero, first)
    deeds.lose(scene, hero, thing)
    deeds.be_at(scene, friend, second)
    deeds.go(scene, hero, last)
    if scene.has_room(0.5):
        asides.feel(scene, hero, False, asides.having_lost(hero, thing) if scene.draw() < 0.5 else None)
    deeds.go(scene, third, first)
    deeds.find(scene, third, thing)
    deeds.go(scene, third, second)
    deeds.hand_over(scene, third, thing, friend)
    deeds.go(scene, friend, last)
    deeds.hand_over(scene, friend, thing, hero, "bring")
    close_regained(scene, hero, thing)


def _found(scene: Scene) -> None:
    """The hero finds a thing that is new to all, and gives it to the friend or only shows it."""
    hero, friend, _ = scene.plan.people
    thing = scene.plan.thing
    first, second, _ = scene.plan.places
    is_together = scene.draw() < 0.4
    _introduce(scene)
    deeds.go(scene, hero, first, friend if is_together else None)
    if is_together:
        asides.meanwhile(scene, hero)
    deeds.find(scene, hero, thing)
    if scene.has_room(0.5):
        asides.feel(scene, hero, True)
    if not is_together:
        deeds.be_at(scene, friend, second)
        _meanwhile(scene, friend, 0.5)
        deeds.go(scene, hero, second)
    if scene.draw() < 0.35:
        deeds.show(scene, hero, thing, friend)
        _meanwhile(scene, friend, 0.5)
        deeds.have(scene, hero, thing, "now")
        return
    deeds.hand_over(scene, hero, thing, friend)
    if scene.has_room(0.6):
        deeds.use(scene, friend, thing)
    close_given(scene, hero, thing, friend)


def _mind_the_other(scene: Scene, who: Name, other: Thing) -> None:
    """A second thing, which stays where it is, to be told apart from the first."""
    if scene.has_room(0.5):
        deeds.have(scene, who, other)


def _meanwhile(scene: Scene, who: Name, likelihood: float) -> None:
    if scene.has_room(likelihood):
        asides.meanwhile(scene, who)


def _greet(scene: Scene, who: Name, whom: Name, likelihood: float) -> None:
    if scene.has_room(likelihood):
        asides.greet(scene, who, whom)


def _need(scene: Scene, who: Name, thing: Thing) -> None:
    """Somebody needs such a thing, whether or not the story knows one."""
    clause = Clause(_NEED, scene.person(who), NounPhrase(thing.noun, "indefinite"), tense="narrated")
    scene.say(clause, who)


def _about_the_thing(scene: Scene) -> NounPhrase | Coordination:
    hero, thing = scene.plan.people[0], scene.plan.thing
    value = scene.draw()
    if value < 0.4:
        return Coordination(NamedEntity(hero), NounPhrase(thing.noun, adjectives=thing.adjectives))
    return NounPhrase(thing.noun, adjectives=thing.adjectives, possessor=NamedEntity(hero) if value < 0.7 else None)


def _about_the_gift(scene: Scene) -> NounPhrase | Coordination:
    hero, thing = scene.plan.people[0], scene.plan.thing
    if scene.draw() < 0.5:
        return Coordination(NamedEntity(hero), known(thing))
    return NounPhrase(thing.noun, adjectives=thing.adjectives)


def _about_both(scene: Scene) -> NounPhrase | Coordination:
    return Coordination(known(scene.plan.thing), known(scene.plan.other))


PLOTS: Final = RandomChoice(
    {
        Plot(_lost, 10, _about_the_thing): 4,
        Plot(_lent, 9, _about_the_thing): 3,
        Plot(_gift, 7, _about_the_gift): 3,
        Plot(_errand, 9, _about_the_gift): 3,
        Plot(_swapped, 8, _about_both): 3,
        Plot(_passed_on, 11, _about_the_thing): 2,
        Plot(_found, 6, _about_the_gift): 4,
    }
)
