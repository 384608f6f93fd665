"""Named-entity examples: news sentences with IOB2 tags, in words that are ambiguous without their context."""

import re
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final, NamedTuple

from regard.miniature.examples.drawing import EXAMPLE_SPLITS, Share, first, share_of
from regard.miniature.examples.phrasebook import Marked, PhraseSpan, phrasebook
from regard.miniature.sampling.choices import Draw

UNSEEN_NAMES: Final = "unseen-names"
ENTITY_SPLITS: Final = EXAMPLE_SPLITS | {UNSEEN_NAMES: Share(500, 0.0, 1.0)}
ENTITY_KINDS: Final = ("PERSON", "PLACE", "COMPANY", "WORK")
_TOKEN: Final = re.compile(r"\w+|'s\b|[^\w\s]")


class TaggedSentence(NamedTuple):
    """A sentence as tokens, each with its tag: B- and I- before the kind of a name, or O (IOB2)."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...]


def entities(split: str, count: int | None = None, seed: int = 0) -> Iterator[TaggedSentence]:
    """The first sentences of a split with their tags; all names of `unseen-names` stand in no other split."""
    found = (tagged(sentence) for text in _texts(split, seed) for sentence in text)
    return first(split, count, found, ENTITY_SPLITS)


def news(split: str, count: int | None = None, seed: int = 0) -> Iterator[str]:
    """The same sentences as documents, each about the same few people, places and companies."""
    return first(split, count, (" ".join(sentence.text for sentence in text) for text in _texts(split, seed)))


def tagged(sentence: Marked) -> TaggedSentence:
    """A marked sentence as tokens with tags."""
    tokens = list(_TOKEN.finditer(sentence.text))
    tags = [_tag(token.start(), sentence.spans) for token in tokens]
    return TaggedSentence(tuple(token[0] for token in tokens), tuple(tags))


def _tag(start: int, spans: Iterable[PhraseSpan]) -> str:
    for span in spans:
        if span.start <= start < span.end:
            return f"{'B' if start == span.start else 'I'}-{span.label}"
    return "O"


def _texts(split: str, seed: int) -> Iterator[list[Marked]]:
    share, draw = share_of(split, ENTITY_SPLITS), Random(f"{seed}:{split}:news").random
    return _drawn(draw, "new" if split == UNSEEN_NAMES else "known", share)


def _drawn(draw: Draw, names: str, share: Share) -> Iterator[list[Marked]]:
    """Texts of three to five sentences, none of which is said twice or belongs to another split."""
    seen: set[str] = set()
    while True:
        text = phrasebook("news").begin(draw, names)
        text.say("cast")
        sentences = []
        for _ in range(3 + int(draw() * 3)):
            sentence = text.say_such("sentence", lambda one: share.holds(one.text) and one.text not in seen)
            if sentence:
                seen.add(sentence.text)
                sentences.append(sentence)
        if len(sentences) > 1:
            yield sentences
