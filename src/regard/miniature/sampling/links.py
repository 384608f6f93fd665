"""Conjunctions with the tenses they join, and the clauses that make sense under them."""

from typing import Final, Literal, NamedTuple

from regard.miniature.meaning import Clause, Tense
from regard.miniature.sampling.choices import RandomChoice
from regard.miniature.sampling.setting import Period, Unsayable, actor_of

_NO_MOMENT: Final = frozenset({"bevor", "nachdem", "sobald", "bis", "während"})


class Link(NamedTuple):
    """A conjunction with the tense of the clause it hangs on and the tense of its own clause."""

    conjunction: str
    outer: Period
    inner: Tense | Literal["past"]


LINKS: Final = RandomChoice(
    {
        Link("weil", "present", "present"): 10,
        Link("weil", "past", "past"): 11,
        Link("weil", "future", "present"): 2,
        Link("obwohl", "present", "present"): 5,
        Link("obwohl", "past", "past"): 6,
        Link("wenn", "present", "present"): 10,
        Link("falls", "future", "present"): 7,
        Link("als", "past", "narrated"): 8,
        Link("bevor", "present", "present"): 2,
        Link("bevor", "past", "past"): 3,
        Link("bevor", "future", "present"): 2,
        Link("nachdem", "past", "earlier"): 7,
        Link("während", "present", "present"): 3,
        Link("während", "past", "past"): 3,
        Link("sobald", "past", "past"): 3,
        Link("sobald", "future", "present"): 3,
        Link("bis", "past", "past"): 2,
        Link("bis", "future", "present"): 2,
        Link("damit", "present", "present"): 3,
        Link("damit", "past", "narrated"): 3,
    }
)
LINKS_FROM: Final[dict[str, RandomChoice[Link]]] = {
    outer: RandomChoice({link: 1.0 for link in LINKS.items if link.outer == outer})
    for outer in ("present", "past", "future")
}


def check(link: Link, outer: Clause, inner: Clause) -> None:
    """Refuse two clauses that make no sense together under the link's conjunction."""
    conjunction = link.conjunction
    deeper = inner.circumstance
    if outer.verb is inner.verb or (deeper and deeper.conjunction.german == conjunction):
        raise Unsayable("the same twice over")
    if outer.tense == "finished":
        raise Unsayable("what has been done already has no such circumstance")
    if conjunction in _NO_MOMENT and ("stative" in inner.verb.facts or inner.frequency):
        raise Unsayable("states and habits have no moment")
    if conjunction == "bis" and (outer.is_negated or "durative" not in outer.verb.facts):
        raise Unsayable("only what lasts can last until something")
    if conjunction == "damit":
        _check_purpose(outer, inner)
    if outer.cause is not None:
        raise Unsayable("one reason is enough")


def _check_purpose(outer: Clause, inner: Clause) -> None:
    """Refuse a purpose of what nobody does on purpose."""
    actor = actor_of(outer.subject, None)
    is_willing = actor is not None and "living" in actor.classes and not outer.is_negated
    if not is_willing or outer.verb.facts & {"stative", "chance"} or "stative" in inner.verb.facts:
        raise Unsayable("nobody does this to an end")
