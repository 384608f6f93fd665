"""Story endings: what was lost, lent or wanted is where it belongs."""

from typing import Final

from regard.miniature.lexicon import Name, lexicon
from regard.miniature.meaning import Clause, Content, NamedEntity, NounPhrase
from regard.miniature.stories import asides, deeds
from regard.miniature.stories.cast import Thing, sex_of
from regard.miniature.stories.scene import OWNERS, Scene, known, pronoun

_WORDS = lexicon()
_BE_GLAD: Final = _WORDS.verb("sich freuen", "content")
_THAT: Final = _WORDS.conjunctions["dass"]
_AGAIN: Final = _WORDS.adverbs["wieder"]


def _turn_to_others(scene: Scene, who: Name) -> None:
    """Something about somebody else, so that whoever was named last is not always who has the thing."""
    others = [name for name in scene.where if name is not who]
    if others and scene.has_room(0.6):
        asides.meanwhile(scene, others[-1])


def close_regained(scene: Scene, owner: Name, thing: Thing) -> None:
    """The owner has the thing again."""
    _turn_to_others(scene, owner)
    value = scene.draw()
    if value < 0.4:
        deeds.have(scene, owner, thing, "finally")
    elif value < 0.65:
        deeds.have(scene, owner, thing, "again")
    else:
        own = NounPhrase(thing.noun, OWNERS[sex_of(owner)])
        reason = Clause(deeds.HAVE, pronoun(owner), own, tense="narrated", manner=_AGAIN)
        asides.feel(scene, owner, True, reason)


def close_given(scene: Scene, giver: Name, thing: Thing, taker: Name) -> None:
    """The thing is with whom it was meant for."""
    _turn_to_others(scene, taker)
    if scene.draw() < 0.5:
        deeds.have(scene, taker, thing, "now")
        return

    def given(who: Name, whom: Name) -> Content:
        deed = Clause(deeds.GIVE, NamedEntity(who), known(thing), pronoun(whom), tense="earlier")
        return Content(_THAT, deed)

    swapped = {"subject": NamedEntity(giver), "content": given(taker, giver)}
    clause = Clause(_BE_GLAD, NamedEntity(taker), tense="narrated", content=given(giver, taker))
    wrong: deeds.Wrong = [("holder", swapped)] if scene.is_telling(giver) else []
    scene.say(clause, taker, others=[giver], thing=thing, wrong=wrong)
