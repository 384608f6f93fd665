"""Phrase books: wordings as rules in a text file, and texts drawn from them.

A rule is a line with its name and, indented below it, its wordings, separated by ` | ` or lines; `3 * ` before a line
makes each of its wordings three times as likely. In a wording

    {rule}          is a wording of that rule; `@` in its name is the opinion and `*` the topic of the text,
    {!rule}         the same, of the other opinion,
    {who=rule}      the same, and {who} says it again; {who:=rule} only remembers it; <who> is it in a rule's name,
    [LABEL words]   marks the words with a label.

No wording of a rule is used twice in a text while there are others.
"""

import re
from bisect import bisect
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Final, NamedTuple

from regard.miniature.english.morphology import article
from regard.miniature.sampling.choices import Draw

_TRIES: Final = 50
_OTHER: Final = {"good": "bad", "bad": "good"}
_REFERENCE: Final = re.compile(r"\{(!?)(?:(\w+)(:?=))?([^{}]+)\}")
_WEIGHT: Final = re.compile(r"(\d+) \* (.+)")
_ARTICLE: Final = re.compile(r"\b([Aa]) ((?:\[\w+ )?)(\w+)")
_SENTENCE_START: Final = re.compile(r"((?:^|[.!?] )(?:\[\w+ )?)([a-z])")
_MARK: Final = re.compile(r"\[(\w+) |\]")


class PhraseSpan(NamedTuple):
    """A label, and where the words that have it begin and end."""

    label: str
    start: int
    end: int


class Marked(NamedTuple):
    """A text with labelled spans, in order."""

    text: str
    spans: tuple[PhraseSpan, ...]


class Reference(NamedTuple):
    """A place in a wording where another rule, or what is remembered, is to be said."""

    rule: str
    is_other_opinion: bool
    name: str
    is_said: bool


class Rule(NamedTuple):
    """Wordings, each as words and references, with the sums of their weights."""

    wordings: tuple[tuple[str | Reference, ...], ...]
    bounds: tuple[float, ...]


class Phrasebook:
    """Rules by name."""

    def __init__(self, text: str) -> None:
        found: dict[str, list[tuple[str, float]]] = {}
        for line in text.splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            if not line.startswith(" "):
                assert line not in found, f"two rules are called {line}"
                wordings = found[line] = []
                continue
            weighed = _WEIGHT.fullmatch(line.strip())
            weight, words = (float(weighed[1]), weighed[2]) if weighed else (1.0, line.strip())
            wordings += [(wording, weight) for wording in words.split(" | ")]
        self._rules = {name: _rule(wordings) for name, wordings in found.items()}

    def words(self, rule: str) -> list[str]:
        """The wordings of a rule that refers to no other."""
        return [wording[0] if wording else "" for wording in self._rules[rule].wordings]  # type: ignore[misc]

    def say(self, rule: str, draw: Draw, opinion: str = "good", topic: str = "") -> Marked:
        """A text of this rule."""
        return self.begin(draw, topic).say(rule, opinion)

    def begin(self, draw: Draw, topic: str = "", said: Mapping[str, str] | None = None) -> "Text":
        """A text to which rules are added one by one; it may remember something from the beginning."""
        return Text(self._rules, draw, topic, said or {})


class Text:
    """One text while it is drawn: what it remembers, and which wordings it has used."""

    def __init__(self, rules: Mapping[str, Rule], draw: Draw, topic: str, said: Mapping[str, str]) -> None:
        self._rules = rules
        self._draw = draw
        self._topic = topic
        self._said = dict(said)
        self._used: dict[str, set[int]] = {}

    def say(self, rule: str, opinion: str = "good") -> Marked:
        """Words of this rule with their marks, `an` before a vowel, and a capital where a sentence begins."""
        raw = self._expand(rule, opinion)
        raw = _ARTICLE.sub(lambda found: f"{_article(found[1], found[3])} {found[2]}{found[3]}", raw)
        return marked(_SENTENCE_START.sub(lambda found: found[1] + found[2].upper(), raw))

    def say_such(self, rule: str, is_such: Callable[[Marked], bool]) -> Marked | None:
        """The same, drawn until it is as it should be; nothing if that does not happen soon."""
        for _ in range(_TRIES):
            used = {name: set(places) for name, places in self._used.items()}
            if is_such(found := self.say(rule)):
                return found
            self._used = used  # only what is said in the end counts
        return None

    def _expand(self, name: str, opinion: str) -> str:
        return "".join(part if isinstance(part, str) else self._refer(part, opinion) for part in self._choose(name))

    def _choose(self, name: str) -> tuple[str | Reference, ...]:
        wordings, bounds = self._rules[name]
        if len(wordings) == 1:
            return wordings[0]
        used = self._used.setdefault(name, set())
        if len(used) == len(wordings):
            used.clear()
        while (place := bisect(bounds, self._draw() * bounds[-1])) in used:
            pass
        used.add(place)
        return wordings[place]

    def _refer(self, to: Reference, opinion: str) -> str:
        if not to.name and to.rule in self._said:
            return self._said[to.rule]
        if to.is_other_opinion:
            opinion = _OTHER[opinion]
        rule = to.rule.replace("@", opinion).replace("*", self._topic)
        if "<" in rule:
            rule = re.sub(r"<(\w+)>", lambda found: self._said[found[1]], rule)
        words = self._expand(rule, opinion)
        if to.name:
            self._said[to.name] = words
        return words if to.is_said else ""


def _rule(weighed: list[tuple[str, float]]) -> Rule:
    return Rule(tuple(_parts(wording) for wording, _ in weighed), tuple(accumulate(weight for _, weight in weighed)))


def _parts(wording: str) -> tuple[str | Reference, ...]:
    parts: list[str | Reference] = []
    end = 0
    for found in _REFERENCE.finditer(wording):
        parts += [wording[end : found.start()]] if found.start() > end else []
        parts.append(Reference(found[4], bool(found[1]), found[2] or "", found[3] != ":="))
        end = found.end()
    return (*parts, wording[end:]) if end < len(wording) else tuple(parts)


def _article(written: str, following: str) -> str:
    found = article(following)
    return found.capitalize() if written.isupper() else found


def marked(raw: str) -> Marked:
    """The text without its brackets, and what they said."""
    text, spans, opened = "", list[PhraseSpan](), list[tuple[str, int]]()
    end = 0
    for found in _MARK.finditer(raw):
        text += raw[end : found.start()]
        end = found.end()
        if found[1]:
            opened.append((found[1], len(text)))
        else:
            label, start = opened.pop()
            spans.append(PhraseSpan(label, start, len(text)))
    return Marked(text + raw[end:], tuple(spans))


@cache
def phrasebook(name: str) -> Phrasebook:
    """The phrase book of this name, read once."""
    return Phrasebook((files(__package__) / "books" / f"{name}.txt").read_text(encoding="utf-8"))
