"""English inflection: plurals, verb forms, comparatives, articles and numerals."""

from functools import cache
from typing import Final, Literal, NamedTuple

from regard.miniature.lexicon import Adjective, Noun, Verb, lexicon

EnglishAgreement = Literal["i", "he", "they"]  # "am", "is", "are"

VOWELS: Final = "aeiou"
# Written with a vowel but spoken with a consonant, and the other way round.
_SPOKEN_CONSONANT: Final = ("uni", "use", "Euro", "one")
_SPOKEN_VOWEL: Final = ("hour", "honest")

_BE: Final[dict[EnglishAgreement, tuple[str, str]]] = {
    "i": ("am", "was"),
    "he": ("is", "was"),
    "they": ("are", "were"),
}
_DOUBLES: Final = frozenset({"begin", "forget"})  # two syllables with the stress on the last


class EnglishVerbForms(NamedTuple):
    """The forms of a verb; what follows its first word ("up", "breakfast") is kept apart."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str
    rest: str


def article(following: str) -> str:
    """The indefinite article before a word, by sound."""
    is_vowel = following[0].lower() in VOWELS and not following.startswith(_SPOKEN_CONSONANT)
    return "an" if is_vowel or following.startswith(_SPOKEN_VOWEL) else "a"


def _add_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")) or word in ("go", "do"):
        return word + "es"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _doubles(word: str) -> bool:
    """Whether the last consonant is doubled before -ed and -ing."""
    if word in _DOUBLES:
        return True
    has_one_vowel = sum(letter in VOWELS for letter in word) == 1
    return has_one_vowel and len(word) > 2 and word[-2] in VOWELS and word[-1] not in VOWELS + "wxy"


def _add_ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ied"
    return word + (word[-1] if _doubles(word) else "") + "ed"


def _add_ing(word: str) -> str:
    if word.endswith("ie"):
        return word[:-2] + "ying"
    if word.endswith("e") and not word.endswith("ee") and word != "be":
        return word[:-1] + "ing"
    return word + (word[-1] if _doubles(word) else "") + "ing"


@cache
def noun_form(noun: Noun, number: str) -> str:
    """The singular or the plural of a noun."""
    if number == "singular":
        return noun.english
    return noun.english_plural or _add_s(noun.english)


@cache
def forms_of(verb: Verb) -> EnglishVerbForms:
    """The forms of a verb of the lexicon, regular where none are listed."""
    base, _, rest = verb.english.partition(" ")
    past = verb.english_past.partition(" ")[0] or _add_ed(base)
    participle = verb.english_participle.partition(" ")[0] or past
    return EnglishVerbForms(base, "has" if base == "have" else _add_s(base), past, participle, _add_ing(base), rest)


def be(agreement: EnglishAgreement, is_past: bool) -> str:
    """The form of `be` for a subject."""
    return _BE[agreement][is_past]


@cache
def comparative(adjective: Adjective) -> str:
    """`bigger`, `happier` or `more beautiful`."""
    word = adjective.english
    if adjective.english_comparative:
        return adjective.english_comparative
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ier"
    if (
        sum(
            letter in VOWELS and (i == 0 or word[i - 1] not in VOWELS)
            for i, letter in enumerate(word.removesuffix("e"))
        )
        > 1
    ):
        return f"more {word}"
    return word.removesuffix("e") + (word[-1] if _doubles(word) else "") + "er"


@cache
def numeral(value: int) -> str:
    """A number from 2 to 1000 in words, as far as the lexicon has the parts."""
    words = lexicon().numerals
    if value in words:
        return words[value][1]
    tens, ones = value - value % 10, value % 10
    return f"{words[tens][1]}-{'one' if ones == 1 else words[ones][1]}"
