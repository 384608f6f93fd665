"""Texts of several sentences: split, translated sentence by sentence, and rejoined with their white space."""

from collections.abc import Callable, Iterator, Sequence

from regard.data.corpus.sentences import split_sentences
from regard.tasks.translate.results import Translation

FULL_WIDTH = "。！？｡」』】）…"
"""Ends of sentences that no white space follows."""


def translate_paragraphs(translator: Callable[..., Sequence[Translation]], text: str, **options: object) -> str:
    """Translate a text of several sentences or lines one by one, and rejoin them with their white space."""
    parts = list(sentences_of(text))
    translated = translator([sentence for _, sentence, _ in parts if sentence], **options)
    return rejoined(parts, [each.text for each in translated])


def rejoined(parts: Sequence[tuple[str, str, str]], texts: Sequence[str]) -> str:
    """Return the translations of sentences (see `sentences_of`) with the white space of the text."""
    result, translated = "", iter(texts)
    for before, sentence, after in parts:
        words = next(translated).strip() if sentence else ""
        # A language without spaces between sentences may become one with them.
        needs_space = result and words and not before and not result[-1].isspace() and result[-1] not in FULL_WIDTH
        result += f"{before}{' ' if needs_space else ''}{words}{after}"
    return result


def sentences_of(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the white space before each sentence of a text, the sentence, and the white space after it."""
    for line in text.splitlines(keepends=True):
        for part in split_sentences(line):
            sentence = part.strip()
            before = part[: len(part) - len(part.lstrip())] if sentence else ""
            yield before, sentence, part[len(before) + len(sentence) :]
