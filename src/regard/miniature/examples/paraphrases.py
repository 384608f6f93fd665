"""Sentence pairs with graded similarity: paraphrases, other details, swapped roles."""

from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from regard.miniature.examples.drawing import Share, first, share_of
from regard.miniature.examples.phrasebook import phrasebook
from regard.miniature.sampling.choices import Draw, RandomChoice

Slots = dict[str, str]

_TYPES: Final = RandomChoice(
    {"type.thing.person": 4, "type.person": 4, "type.either": 2, "type.thing": 3, "type.order": 3}
)
_DIRECTED: Final = frozenset({"type.thing.person", "type.person", "type.order"})
_OWN_THINGS: Final = frozenset({"teach", "repair", "find", "lose", "hide"})
_SWAPPED: Final = 0.75
_TRIES: Final = 60
_DETAILS: Final = ("t", "q", "p")


class Paraphrase(NamedTuple):
    """Two sentences, how alike they are from 0 (nothing in common) to 5 (the same), and whether they are the same.

    4: one says more about the same; 3: a detail differs; 2: somebody or something else takes part, or the parts
    are swapped; 1: the same people do something else.
    """

    first: str
    second: str
    score: float
    is_same: bool


def paraphrases(split: str, count: int | None = None, seed: int = 0) -> Iterator[Paraphrase]:
    """Pairs of which half say the same, and the others nearly, in nearly the same words."""
    return first(split, count, _pairs("paraphrases", split, seed, RandomChoice({5: 10, 3: 2, 2: 8})))


def likeness(split: str, count: int | None = None, seed: int = 0) -> Iterator[Paraphrase]:
    """Pairs of every score alike."""
    return first(split, count, _pairs("likeness", split, seed, RandomChoice(dict.fromkeys(range(6), 1))))


def _pairs(what: str, split: str, seed: int, scores: RandomChoice[int]) -> Iterator[Paraphrase]:
    return _drawn(share_of(split), Random(f"{seed}:{split}:{what}").random, scores)


def _drawn(share: Share, draw: Draw, scores: RandomChoice[int]) -> Iterator[Paraphrase]:
    """Pairs without end and without repetition; every sentence about the same people and thing is of one split."""
    seen: set[tuple[str, str]] = set()
    while True:
        pair, score = ("", ""), scores(draw)
        while pair[0] == pair[1] or pair in seen:
            pair = _pair(share, draw, score)
        seen.add(pair)
        yield Paraphrase(*pair, float(score), score == 5)


def _pair(share: Share, draw: Draw, score: int) -> tuple[str, str]:
    """Two sentences at this distance, in either order."""
    while True:
        slots = _event(draw)
        if slots["a"] == slots["b"] or not share.holds(_key(slots)):
            continue
        if other := _changed(share, draw, slots, score):
            both = _say(draw, slots), _say(draw, other)
            return both if draw() < 0.5 else both[::-1]


def retellings(split: str, count: int | None = None, seed: int = 0) -> Iterator[str]:
    """Documents of two to four sentences that all say the same."""
    share, draw = share_of(split), Random(f"{seed}:{split}:retellings").random
    return first(split, count, _retellings(share, draw))


def _retellings(share: Share, draw: Draw) -> Iterator[str]:
    while True:
        slots = _event(draw)
        if slots["a"] != slots["b"] and share.holds(_key(slots)):
            told = dict.fromkeys(_say(draw, slots) for _ in range(4))
            if len(told) > 1:
                yield " ".join(told)


def _event(draw: Draw, given: Slots | None = None) -> Slots:
    """What happens, with some of it given."""
    given = given or {}
    kind = given.get("kind") or _TYPES(draw)
    slots = {"kind": kind, "type": _word(draw, kind), "a": _word(draw, "person"), "b": _word(draw, "person")}
    slots |= {"q": _word(draw, "q"), "p": _word(draw, "p"), "t": _word(draw, "t") if draw() < 0.6 else ""}
    slots |= given
    slots.setdefault("x", _word(draw, f"x.{slots['type']}" if slots["type"] in _OWN_THINGS else "x"))
    return slots


def _key(slots: Slots) -> str:
    """What a sentence is about, by which it belongs to a split: all of it that no sentence can leave out."""
    kind = slots["kind"]
    people = [slots["a"]] if kind == "type.thing" else sorted((slots["a"], slots["b"]))
    thing = [slots["x"]] if "thing" in kind else []
    return " ".join([slots["type"], *people, *thing])


def _word(draw: Draw, rule: str) -> str:
    words = phrasebook("pairs").words(rule)
    return words[int(draw() * len(words))]


def _changed(share: Share, draw: Draw, slots: Slots, score: int) -> Slots | None:
    """What the other sentence says at this distance; nothing where there is no such."""
    kind = slots["kind"]
    if score == 5:
        return slots
    if score == 4:
        return slots | {"t": ""} if _has(slots, "t") else None
    if score == 3:
        details = [name for name in _DETAILS if _has(slots, name)]
        return _with_other(share, draw, slots, details[int(draw() * len(details))]) if details else None
    if score == 2:
        if kind in _DIRECTED and draw() < _SWAPPED:
            return slots | {"a": slots["b"], "b": slots["a"]}
        is_thing = kind == "type.thing" or ("thing" in kind and draw() < 0.5)
        return _with_other(share, draw, slots, "x" if is_thing else "b")
    if score == 1:
        shared = {name: slots[name] for name in ("a", "b", "t", "p")}
        return _event_unlike(share, draw, slots, shared, ("type",))
    other = _event_unlike(share, draw, slots, {}, ("type", "a", "b", "x"))
    return other if other and {other["a"], other["b"]}.isdisjoint({slots["a"], slots["b"]}) else None


def _has(slots: Slots, detail: str) -> bool:
    """Whether a sentence says such a detail, which it could leave out."""
    kind = slots["kind"]
    if detail == "t":
        return slots["t"] != "" and kind != "type.order"
    if detail == "q":
        return "thing" in kind and slots["type"] != "teach"
    return kind in ("type.either", "type.thing")


def _with_other(share: Share, draw: Draw, slots: Slots, part: str) -> Slots | None:
    """The same but for one part."""
    given = {name: value for name, value in slots.items() if name != part}
    return _event_unlike(share, draw, slots, given, (part,))


def _event_unlike(share: Share, draw: Draw, slots: Slots, given: Slots, parts: tuple[str, ...]) -> Slots | None:
    """Another event of the split that differs in these parts, if one is soon found."""
    for _ in range(_TRIES):
        other = _event(draw, given)
        is_unlike = all(other[part] and other[part] != slots[part] for part in parts) and other["a"] != other["b"]
        if is_unlike and share.holds(_key(other)):
            return other
    return None


def _say(draw: Draw, slots: Slots) -> str:
    """One of the ways to say it."""
    return phrasebook("pairs").begin(draw, said=slots).say("timed" if _has(slots, "t") else "plain").text
