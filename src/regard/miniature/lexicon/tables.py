"""The lexicon, read from the tables beside this file."""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Literal

from regard.miniature.lexicon.entries import (
    TWO_WAY,
    Adjective,
    Adverb,
    Case,
    Conjunction,
    Frame,
    Gender,
    Language,
    Lexicon,
    Modal,
    Name,
    Noun,
    Preposition,
    Verb,
)


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = (files(__package__) / f"{name}.tsv").read_text(encoding="utf-8")
    header, *lines = (line.split("\t") for line in text.splitlines())
    for line in lines:
        yield dict(zip(header, ("" if field == "-" else field for field in line), strict=True))


def _list(field: str) -> list[str]:
    return field.split(",") if field else []


def _place(spec: str, kind: Literal["where", "whither"]) -> Preposition:
    german, english = spec.split(":")
    two_way: Case = "dative" if kind == "where" else "accusative"
    return Preposition(german, english, two_way if german in TWO_WAY else "dative", kind)


def _closure(classes: Iterable[str], parents: dict[str, list[str]]) -> frozenset[str]:
    found: set[str] = set()
    waiting = list(classes)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting.extend(parents[name])
    return frozenset(found)


def _nouns() -> dict[str, Noun]:
    rows = {row["class"]: row for row in _rows("classes")}
    parents = {name: _list(row["parents"]) for name, row in rows.items()}
    places = cache(_place)
    nouns = {}
    for row in _rows("nouns"):
        classes = _closure(_list(row["classes"]), parents)
        where = _list(row["where"]) + [
            spec for name in rows if name in classes for spec in _list(rows[name]["where"])
        ]
        gender: Gender = row["gender"]  # type: ignore[assignment]
        sex = "f" if "female" in classes else None if gender == "n" else gender
        nouns[row["german"]] = Noun(
            german=row["german"],
            gender=gender,
            genitive=row["genitive"],
            plural=row["plural"],
            english=row["english"],
            english_plural=row["english_plural"],
            classes=classes,
            sex=sex if "person" in classes else None,
            where=tuple(places(spec, "where") for spec in where),
            whither=places(row["whither"], "whither") if row["whither"] else None,
        )
    return nouns


def _select(selection: str, nouns: dict[str, Noun]) -> tuple[Noun, ...]:
    """Nouns that one of the comma-separated terms names; `a-b-c` is class or noun a without b and c."""
    chosen = set()
    for term in _list(selection):
        wanted, *unwanted = term.split("-")
        chosen |= {
            noun
            for noun in nouns.values()
            if (wanted in noun.classes or wanted == noun.german)
            and not any(name in noun.classes or name == noun.german for name in unwanted)
        }
        if not chosen:
            raise ValueError(f"the lexicon has no noun for {term!r}")
    return tuple(noun for noun in nouns.values() if noun in chosen)


def _verb(row: dict[str, str], nouns: dict[str, Noun], adverbs: dict[str, Adverb]) -> Verb:
    is_reflexive = row["german"].startswith("sich ")
    particle, _, infinitive = row["german"].removeprefix("sich ").rpartition("+")
    frame: Frame = row["frame"]  # type: ignore[assignment]
    governs = row["governs"]
    wants_place = frame in ("motion", "position")
    preposition = None
    if frame == "about":
        german, case, english = governs.split(":")
        preposition = Preposition(german, english, case, "about")  # type: ignore[arg-type]
    return Verb(
        german=row["german"].replace("+", ""),
        particle=particle,
        infinitive=infinitive,
        is_reflexive=is_reflexive,
        **{name: row[name] for name in ("present", "past", "participle", "auxiliary")},
        **{name: row[name] for name in ("english", "english_past", "english_participle")},
        frame=frame,
        subjects=_select(row["subjects"], nouns),
        objects=() if wants_place else _select(row["objects"], nouns),
        targets=_select(row["objects"] if wants_place else governs if frame == "put" else "", nouns),
        governs=preposition,
        contents=frozenset(_list(governs) if frame == "content" else ()),
        manners=tuple(adverb for adverb in adverbs.values() if adverb.german in _list(row["manners"])),
        facts=frozenset(_list(row["facts"])),
    )


@cache
def lexicon() -> Lexicon:
    """The one lexicon, read once from the package's own tables."""
    nouns = _nouns()
    adverbs = {
        row["german"]: Adverb(row["german"], row["english"], row["kind"], row["lemma"], row["english_lemma"])
        for row in _rows("adverbs")
    }
    adjectives = {
        row["german"]: Adjective(
            **{name: row[name] for name in ("german", "comparative", "english", "english_comparative")},
            stem=row["stem"] or row["german"],
            rank=int(row["rank"]),
            fits=_select(row["fits"], nouns),
        )
        for row in _rows("adjectives")
    }
    return Lexicon(
        nouns=nouns,
        verbs=tuple(_verb(row, nouns, adverbs) for row in _rows("verbs")),
        adjectives=adjectives,
        adverbs=adverbs,
        prepositions=tuple(Preposition(**row) for row in _rows("prepositions")),  # type: ignore[arg-type]
        names={row["german"]: Name(**row) for row in _rows("names")},
        conjunctions={row["german"]: Conjunction(**row) for row in _rows("conjunctions")},
        modals={row["german"]: Modal(**row) for row in _rows("modals")},
        numerals={int(row["value"]): (row["german"], row["english"]) for row in _rows("numerals")},
    )


def lemmas(language: Language) -> frozenset[str]:
    """Every lemma of one language but proper names; words that only grammar asks for are left out too."""
    words = lexicon()
    places = [place for noun in words.nouns.values() for place in (*noun.where, noun.whither) if place]
    governed = [verb.governs for verb in words.verbs if verb.governs]
    entries = [*words.nouns.values(), *words.verbs, *words.adjectives.values(), *words.conjunctions.values()]
    entries += [*words.modals.values(), *words.prepositions, *places, *governed]
    found = {getattr(entry, language).replace(" _ ", " ").replace(" * ", " ") for entry in entries}
    found |= {getattr(adverb, f"{language}_lemma") for adverb in words.adverbs.values()}
    found |= {numeral[0 if language == "german" else 1] for numeral in words.numerals.values()}
    return frozenset(found - {""})
