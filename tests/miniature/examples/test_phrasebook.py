"""Phrase books: what their rules mean, and that every rule of those that are shipped can be said."""

import re
from importlib.resources import files
from random import Random

import pytest

from regard.miniature.examples.phrasebook import Marked, Phrasebook, PhraseSpan, phrasebook

BOOK = Phrasebook(
    """
# a comment
greeting
    {!word.@} and {word.@}, {who=name}! {who} {again}.
again
    came
word.good
    warm
word.bad
    cold
name
    Anna | Otto
of
    {k:=kind}{<k>.one}
kind
    fruit
fruit.one
    a [FRUIT apple]. a pear. a [FRUIT orange]
topic
    {of.*}
of.tea
    tea
often
    9 * a
    b
"""
)


def draws(seed=0):
    return Random(seed).random


def test_references_flip_opinions_and_remember():
    assert BOOK.say("greeting", draws(1)).text in (
        "Cold and warm, Anna! Anna came.",
        "Cold and warm, Otto! Otto came.",
    )
    assert BOOK.say("greeting", draws(1), "bad").text.startswith("Warm and cold")
    assert BOOK.say("topic", draws(), topic="tea").text == "Tea"


def test_marks_articles_and_capitals():
    found = BOOK.say("of", draws())
    assert found == Marked("An apple. A pear. An orange", (PhraseSpan("FRUIT", 3, 8), PhraseSpan("FRUIT", 21, 27)))
    assert [found.text[span.start : span.end] for span in found.spans] == ["apple", "orange"]


def test_no_wording_is_used_twice_while_there_are_others():
    text = BOOK.begin(draws(3))
    for _ in range(20):
        assert {text.say("name").text, text.say("name").text} == {"Anna", "Otto"}


def test_weights_count():
    said = [BOOK.say("often", draws(seed)).text for seed in range(500)]
    assert 0.85 < said.count("A") / 500 < 0.95


def test_what_is_drawn_in_vain_is_not_used():
    text = BOOK.begin(draws(), said={"who": "Ida"})
    assert text.say_such("name", lambda found: found.text == "Ida") is None
    assert text.say_such("name", lambda found: found.text == "Otto").text == "Otto"
    assert text.say("name").text == "Anna"


TOPICS = {"reviews": ("film", "book", "restaurant", "hotel", "concert", "product"), "news": ("known", "new")}


@pytest.mark.parametrize("name", ["reviews", "news", "senses", "pairs"])
def test_every_reference_of_a_shipped_book_leads_somewhere(name):
    source = (files("regard.miniature.examples") / "books" / f"{name}.txt").read_text(encoding="utf-8")
    rules = {line for line in source.splitlines() if line and line[0] not in " #"}
    remembered = set(re.findall(r"\{!?(\w+):?=", source)) | {"a", "b", "x", "q", "t", "p", "type"}
    for reference in re.findall(r"\{!?(?:\w+:?=)?([^{}]+)\}", source):
        pattern = re.escape(reference).replace("@", "(good|bad)").replace(r"\*", ".+")
        pattern = re.sub(r"<\w+>", ".+", pattern)
        assert reference in remembered or any(re.fullmatch(pattern, rule) for rule in rules), reference
    assert phrasebook(name) is phrasebook(name)
