"""German inflection: nouns, determiners, adjectives, pronouns, verbs and numerals."""

from functools import cache
from typing import Final, Literal, NamedTuple

from regard.miniature.lexicon import Case, Noun, Verb, lexicon
from regard.miniature.meaning import Determiner, Number

Slot = Literal["m", "f", "n", "p"]  # a gender of the singular, or the plural, which knows none
Agreement = Literal["1s", "2s", "3s", "1p", "3p"]

CASES: Final[tuple[Case, ...]] = ("nominative", "accusative", "dative", "genitive")
SLOTS: Final[tuple[Slot, ...]] = ("m", "f", "n", "p")
AGREEMENTS: Final[tuple[Agreement, ...]] = ("1s", "2s", "3s", "1p", "3p")

# One row per case in the order of CASES, one column per slot in the order of SLOTS.
_DEFINITE = ("der die das die", "den die das die", "dem der dem den", "des der des der")
_STRONG = ("er e es e", "en e es e", "em er em en", "es er es er")  # as in "dieser"
_BARE = ("er e es e", "en e es e", "em er em en", "en er en er")  # on an adjective that has to show the case
_WEAK = ("e e e en", "en e e en", "en en en en", "en en en en")
_MIXED = ("er e es en", "en e es en", "en en en en", "en en en en")
_NO_ENDING = {("nominative", "m"), ("nominative", "n"), ("accusative", "n")}  # "ein", not "einer" or "eines"

_EIN_WORDS: Final[dict[Determiner, str]] = {
    "indefinite": "ein", "no": "kein", "my": "mein", "your": "dein", "our": "unser",
    "his": "sein", "her": "ihr", "their": "ihr",
}  # fmt: skip
_DER_WORDS: Final[dict[Determiner, str]] = {"demonstrative": "dies", "each": "jed"}
_PLURAL_WORDS: Final[dict[Determiner, str]] = {"many": "viel", "some": "einig"}

CONTRACTIONS: Final = {
    "in dem": "im", "in das": "ins", "an dem": "am", "an das": "ans", "bei dem": "beim",
    "von dem": "vom", "zu dem": "zum", "zu der": "zur",
}  # fmt: skip

PRONOUNS: Final[dict[str, dict[Case, str]]] = {
    "i": {"nominative": "ich", "accusative": "mich", "dative": "mir"},
    "you": {"nominative": "du", "accusative": "dich", "dative": "dir"},
    "we": {"nominative": "wir", "accusative": "uns", "dative": "uns"},
    "they": {"nominative": "sie", "dative": "ihnen"},
    "m": {"nominative": "er", "accusative": "ihn", "dative": "ihm"},
    "f": {"nominative": "sie"},
    "n": {"nominative": "es"},
}
REFLEXIVES: Final[dict[Agreement, str]] = {
    "1s": "mich",
    "2s": "dich",
    "3s": "sich",
    "1p": "uns",
    "3p": "sich",
}
RELATIVES: Final[dict[Case, dict[Slot, str]]] = {
    "nominative": {"m": "der", "f": "die", "n": "das", "p": "die"},
    "accusative": {"m": "den", "f": "die", "n": "das", "p": "die"},
    "dative": {"m": "dem", "f": "der", "n": "dem", "p": "denen"},
    "genitive": {"m": "dessen", "f": "deren", "n": "dessen", "p": "deren"},
}

_IRREGULAR_PRESENT: Final[dict[str, str]] = {
    "sein": "bin bist ist sind sind",
    "haben": "habe hast hat haben haben",
    "werden": "werde wirst wird werden werden",
    "wissen": "weiß weißt weiß wissen wissen",
    "mögen": "mag magst mag mögen mögen",
}
_IRREGULAR_PAST: Final[dict[str, str]] = {"werden": "wurde"}
_UNSTRESSED: Final = ("be", "ge", "er", "ver", "zer", "ent", "emp")  # prefixes whose participle has no ge-


class Inflected(NamedTuple):
    """A determiner and the ending of the adjectives that follow it."""

    determiner: str
    ending: str


class GermanVerbForms(NamedTuple):
    """Every form of a verb that the grammar uses; only the last two carry a separable particle."""

    present: dict[Agreement, str]
    past: dict[Agreement, str]
    participle: str
    infinitive: str


def _cell(table: tuple[str, ...], case: Case, slot: Slot) -> str:
    return table[CASES.index(case)].split()[SLOTS.index(slot)]


def _inflect(determiner: Determiner, case: Case, slot: Slot) -> Inflected:
    if determiner == "definite":
        return Inflected(_cell(_DEFINITE, case, slot), _cell(_WEAK, case, slot))
    if determiner in _DER_WORDS:
        return Inflected(_DER_WORDS[determiner] + _cell(_STRONG, case, slot), _cell(_WEAK, case, slot))
    if determiner in _PLURAL_WORDS:
        return Inflected(_PLURAL_WORDS[determiner] + _cell(_STRONG, case, slot), _cell(_BARE, case, slot))
    if determiner == "whose" or (determiner == "indefinite" and slot == "p"):
        return Inflected("", _cell(_BARE, case, slot))
    ending = "" if (case, slot) in _NO_ENDING else _cell(_STRONG, case, slot)
    return Inflected(_EIN_WORDS[determiner] + ending, _cell(_MIXED, case, slot))


# Looked up for every noun phrase, so worked out once: determiner, then case, then slot.
DETERMINERS: Final[dict[Determiner, dict[Case, dict[Slot, Inflected]]]] = {
    determiner: {case: {slot: _inflect(determiner, case, slot) for slot in SLOTS} for case in CASES}
    for determiner in ("definite", "whose", *_EIN_WORDS, *_DER_WORDS, *_PLURAL_WORDS)
}
# Masses and what follows a name have no article: the adjective shows the case itself.
BARE: Final = DETERMINERS["whose"]


@cache
def noun_forms(noun: Noun) -> dict[Number, dict[Case, str]]:
    """Every form of a noun, by number and case."""
    is_weak = noun.gender == "m" and not noun.genitive.endswith("s")
    oblique = noun.genitive if is_weak else noun.german
    dative_plural = noun.plural if noun.plural.endswith(("n", "s")) else noun.plural + "n"
    plural: dict[Case, str] = dict.fromkeys(CASES, noun.plural)
    return {
        "singular": {
            "nominative": noun.german,
            "accusative": oblique,
            "dative": oblique,
            "genitive": noun.genitive,
        },
        "plural": plural | {"dative": dative_plural},
    }


def _present(infinitive: str, third: str) -> dict[Agreement, str]:
    if infinitive in _IRREGULAR_PRESENT:
        return dict(zip(AGREEMENTS, _IRREGULAR_PRESENT[infinitive].split()))
    stem = infinitive.removesuffix("n").removesuffix("e")
    first = stem[:-2] + "le" if infinitive.endswith("eln") else stem + "e"
    base = third if third.endswith("tt") else third.removesuffix("t")
    second = base + ("t" if base.endswith(("s", "ß", "z", "x")) else "st")
    return dict(zip(AGREEMENTS, (first, second, third, infinitive, infinitive)))


def _past(third: str) -> dict[Agreement, str]:
    second = third + ("est" if third.endswith(("s", "ß", "t", "d")) else "st")
    plural = third + ("n" if third.endswith("e") else "en")
    return dict(zip(AGREEMENTS, (third, second, third, plural, plural)))


def _needs_e(stem: str) -> bool:
    """Whether a weak stem takes -et and -ete: after t and d, and after an n that closes a hard cluster."""
    return stem.endswith(("t", "d", "gn", "chn"))


@cache
def verb_forms(
    infinitive: str, particle: str = "", present: str = "", past: str = "", participle: str = ""
) -> GermanVerbForms:
    """The forms of a verb; parts that are not given are those of a weak verb."""
    stem = infinitive.removesuffix("n").removesuffix("e")
    joint = "e" if _needs_e(stem) else ""
    if not participle:
        is_unstressed = infinitive.startswith(_UNSTRESSED) or infinitive.endswith("ieren")
        participle = ("" if is_unstressed else "ge") + stem + joint + "t"
    return GermanVerbForms(
        _present(infinitive, present or stem + joint + "t"),
        _past(past or _IRREGULAR_PAST.get(infinitive) or stem + joint + "te"),
        particle + participle,
        particle + infinitive,
    )


@cache
def forms_of(verb: Verb) -> GermanVerbForms:
    """The forms of a verb of the lexicon."""
    return verb_forms(verb.infinitive, verb.particle, verb.present, verb.past, verb.participle)


@cache
def modal_forms(german: str) -> GermanVerbForms:
    """The forms of a modal verb."""
    modal = lexicon().modals[german]
    plural = german if german != "sollen" else "sollten"
    present = dict(zip(AGREEMENTS, (modal.present, modal.du_present, modal.present, plural, plural)))
    return GermanVerbForms(present, _past(modal.past or modal.present), "", german)


@cache
def numeral(value: int) -> str:
    """A number from 2 to 1000 in words, as far as the lexicon has the parts."""
    words = lexicon().numerals
    if value in words:
        return words[value][0]
    tens, ones = value - value % 10, value % 10
    return ("ein" if ones == 1 else words[ones][0]) + "und" + words[tens][0]
