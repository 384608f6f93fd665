"""Sentences told apart in text of any language, and written to the shards with a mark behind each."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from regard.data.settings.text import SentenceRule
from regard.data.sources.documents import DocumentChunk
from regard.text.tokenizer import Tokenizer

LONGEST = 128
"""Tokens of a sentence at most; what is longer (a text without any full stop) counts as several."""

_END = re.compile(
    r"""
    (?P<marks>[.!?…؟۔।॥።]+)(?P<closers>["'”’»›)\]}]*)(?=\s)  # a full stop, what it closes, and white space
    | [。！？｡]+[」』】）”’]*                                   # scripts that part sentences without it
    | (?P<blank>\n[^\S\n]*\n)                                # a blank line
    """,
    re.VERBOSE,
)
_AT_END = re.compile(r"""(?:[.!?…؟۔।॥።]["'”’»›)\]}]*|[。！？｡]+[」』】）”’]*)\s*\Z""")


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text; laid end to end they are the text.

    A sentence ends with a full stop (or its like in other scripts, and quotes or brackets it closes) before white
    space, unless a small letter follows, or the stop may belong to an abbreviation, an initial or an ordinal: behind
    a single letter, a capitalized word of up to three, or a number of up to two digits. A blank line always ends one.
    """
    begin = 0
    for found in _END.finditer(text):
        end = found.end()
        if begin < end < len(text) and (found["marks"] is None or _is_end(text, found)):
            yield text[begin:end]
            begin = end
    if begin < len(text):
        yield text[begin:]


def _is_end(text: str, found: re.Match[str]) -> bool:
    """Tell whether a full stop ends a sentence, by the word before it and the letter behind it."""
    behind = found.end()
    while behind < len(text) and text[behind].isspace():
        behind += 1
    if behind < len(text) and text[behind].islower():
        return False
    if found["marks"] != "." or found["closers"]:
        return True
    begin = end = found.start()
    while begin and text[begin - 1].isalnum():
        begin -= 1
    word = text[begin:end]
    if word.isdigit():
        return len(word) > 2
    is_short = len(word) == 1 or (len(word) <= 3 and word[:1].isupper() and word[1:].islower())
    return not (is_short and word.isalpha())


def split_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text, line feeds included."""
    yield from text.splitlines(keepends=True)


class SentenceEncoder:
    """Pieces of documents to ids: a padding token, which no text holds, behind each sentence but a document's last.

    What a piece ends with goes on in the next one, unless it looks like the end of a sentence.
    """

    def __init__(self, tokenizer: Tokenizer, rule: SentenceRule) -> None:
        self.tokenizer, self.rule = tokenizer, rule
        self.reading: dict[str, Any] = {"sentences": rule, "longest": LONGEST}
        """What a folder of shards must have in common to be used again."""

    def __call__(self, pieces: Sequence[DocumentChunk]) -> list[list[int]]:
        """Return the ids of each piece; behind the last of a document stands the end token."""
        split = split_lines if self.rule == "lines" else split_sentences
        sentences = [list(split(piece.text)) for piece in pieces]
        ids = iter(self.tokenizer.encode_batch([text for texts in sentences for text in texts]))
        rows = []
        for piece, texts in zip(pieces, sentences, strict=True):
            row: list[int] = []
            for _ in texts:
                for part in _parts(next(ids)):
                    row += part
                    row.append(self.tokenizer.pad_id)
            if row and (piece.is_last or not self._ends_sentence(piece.text)):
                row.pop()
            rows.append([*row, self.tokenizer.eos_id] if piece.is_last else row)
        return rows

    def _ends_sentence(self, text: str) -> bool:
        return text.endswith("\n") if self.rule == "lines" else _AT_END.search(text) is not None


def _parts(ids: list[int]) -> Iterator[list[int]]:
    """Yield the ids of a sentence in parts that are not too long, all about alike."""
    count = -(-len(ids) // LONGEST)
    cuts = [len(ids) * number // count for number in range(count + 1)] if count else []
    for begin, end in pairwise(cuts):
        yield ids[begin:end]
