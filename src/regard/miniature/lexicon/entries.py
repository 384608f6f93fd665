"""Entries of the lexicon, one dataclass per class of words."""

from dataclasses import dataclass
from typing import Final, Literal

Language = Literal["german", "english"]
Case = Literal["nominative", "accusative", "dative", "genitive"]
Gender = Literal["m", "f", "n"]
Frame = Literal[
    "copula", "exist", "weather", "alone", "motion", "position",
    "object", "dative", "recipient", "about", "put", "content",
]  # fmt: skip

# These govern the dative for where something is and the accusative for where it goes.
TWO_WAY = frozenset({"in", "an", "auf", "hinter", "neben", "unter", "vor"})

# What the `facts` of a verb say about it.
VERB_FACTS: Final = {
    "stative": "says how things are: no progressive, no modal, hardly ever the perfect",
    "durative": "can last, so it can be said for how long or until when",
    "chance": "happens to somebody: neither wanted nor done to an end",
    "general": "takes an indefinite object in the plural: one likes apples",
    "several": "takes an object in the plural only: one counts cows",
    "passive": "is often said in the passive",
    "gern": "can be liked: German adds the adverb, English the verb",
    "place": "may say where it happens",
    "company": "may say with or without whom",
    "benefit": "may say for whom",
    "means": "may say by what vehicle",
    "far": "leads to towns and countries",
    "morning": "belongs to one part of the day",
    "to": "has its recipient behind the object in English: explain it to me",
    "doubtable": "may be negated though it has a clause as its content",
    "outward": "has a content about others than its own subject",
}


# Entries exist once each, so comparing them by identity is right, and much the fastest.
@dataclass(frozen=True, slots=True, eq=False)
class Preposition:
    """A preposition in one of its senses, with the case it governs in that sense."""

    german: str
    english: str
    case: Case
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A common noun; `plural` is empty for nouns that have none."""

    german: str
    gender: Gender
    genitive: str
    plural: str
    english: str
    english_plural: str
    classes: frozenset[str]
    sex: Literal["m", "f"] | None
    where: tuple[Preposition, ...]
    whither: Preposition | None


@dataclass(frozen=True, slots=True, eq=False)
class Adverb:
    """An adverb or a fixed adverbial phrase; `kind` says when and where it may stand."""

    german: str
    english: str
    kind: str
    german_lemma: str
    english_lemma: str


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective; those of rank 2 (colour, material, origin) stand next to the noun."""

    german: str
    stem: str
    comparative: str
    english: str
    english_comparative: str
    rank: int
    fits: tuple[Noun, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb in one frame; `targets` are the nouns of its place or its goal."""

    german: str
    particle: str
    infinitive: str
    is_reflexive: bool
    present: str
    past: str
    participle: str
    auxiliary: str
    english: str
    english_past: str
    english_participle: str
    frame: Frame
    subjects: tuple[Noun, ...]
    objects: tuple[Noun, ...]
    targets: tuple[Noun, ...]
    governs: Preposition | None
    contents: frozenset[str]
    manners: tuple[Adverb, ...]
    facts: frozenset[str]

    @property
    def object_case(self) -> Case:
        return "dative" if self.frame == "dative" else "accusative"


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A proper name of a woman, a man, a town or a country."""

    german: str
    english: str
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class Conjunction:
    """A word that joins clauses: a content, a circumstance or two equals."""

    german: str
    english: str
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class Modal:
    """A modal verb, or `gern`, which German says with an adverb and English with a verb."""

    german: str
    present: str
    du_present: str
    past: str
    english: str


@dataclass(frozen=True)
class Lexicon:
    """Every entry, in the order of the files."""

    nouns: dict[str, Noun]
    verbs: tuple[Verb, ...]
    adjectives: dict[str, Adjective]
    adverbs: dict[str, Adverb]
    prepositions: tuple[Preposition, ...]
    names: dict[str, Name]
    conjunctions: dict[str, Conjunction]
    modals: dict[str, Modal]
    numerals: dict[int, tuple[str, str]]

    def verb(self, german: str, frame: Frame | None = None) -> Verb:
        """The verb of this lemma, in this frame where it has several."""
        return next(v for v in self.verbs if v.german == german and frame in (None, v.frame))

    def preposition(self, kind: str, german: str = "") -> Preposition:
        """The preposition of this kind (and form, where a kind has several)."""
        return next(p for p in self.prepositions if p.kind == kind and german in ("", p.german))
