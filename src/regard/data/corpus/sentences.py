"""Sentence splitting for text of any language, and its encoder, which writes a separator after each sentence."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from regard.data.settings.text import SentenceRule
from regard.data.sources.documents import DocumentChunk
from regard.text.tokenizer import Tokenizer

LONGEST = 128
"""Maximum sentence length in tokens; a longer one (a text without full stops) is split into several."""

_END = re.compile(
    r"""
    (?P<marks>[.!?…؟۔।॥።]+)(?P<closers>["'”“’‘»›«)\]}]*)(?=\s)  # a full stop, closing quotes, white space
    | [。！？｡]+[」』】）”’]*                                   # scripts without white space between
    | (?P<blank>\n[^\S\n]*\n)                                # a blank line
    """,
    re.VERBOSE,
)
_AT_END = re.compile(r"""(?:[.!?…؟۔।॥።]["'”“’‘»›«)\]}]*|[。！？｡]+[」』】）”’]*)\s*\Z""")


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text; concatenated they are the text.

    A sentence ends with a full stop (or its equivalent in other scripts, and closing quotes or brackets) before white
    space, unless a lowercase character follows or the stop may belong to an abbreviation, an initial or an ordinal:
    after a single character, a capitalized word of up to three, or a number of up to two digits. A blank line always
    ends a sentence.
    """
    begin = 0
    for match in _END.finditer(text):
        end = match.end()
        if begin < end < len(text) and (match["marks"] is None or _is_end(text, match)):
            yield text[begin:end]
            begin = end
    if begin < len(text):
        yield text[begin:]


def _is_end(text: str, match: re.Match[str]) -> bool:
    """Return whether a full stop ends a sentence, by the word before it and the character after it."""
    after = match.end()
    while after < len(text) and text[after].isspace():
        after += 1
    if after < len(text) and text[after].islower():
        return False
    if match["marks"] != "." or match["closers"]:
        return True
    begin = end = match.start()
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
    """Encodes chunks of documents with a padding token (which no text contains) after each sentence but the last.

    The end of a chunk is not a sentence boundary unless it looks like one.
    """

    def __init__(self, tokenizer: Tokenizer, rule: SentenceRule) -> None:
        self.tokenizer, self.rule = tokenizer, rule
        self.reading: dict[str, Any] = {"sentences": rule, "longest": LONGEST}
        """Settings that shards must have been made with to be reused."""

    def __call__(self, chunks: Sequence[DocumentChunk]) -> list[list[int]]:
        """Return the ids of each chunk; the last of a document ends with EOS."""
        split = split_lines if self.rule == "lines" else split_sentences
        sentences = [list(split(chunk.text)) for chunk in chunks]
        ids = iter(self.tokenizer.encode_batch([text for texts in sentences for text in texts]))
        rows = []
        for chunk, texts in zip(chunks, sentences, strict=True):
            row: list[int] = []
            for _ in texts:
                for part in _parts(next(ids)):
                    row += part
                    row.append(self.tokenizer.pad_id)
            if row and (chunk.is_last or not self._ends_sentence(chunk.text)):
                row.pop()
            rows.append([*row, self.tokenizer.eos_id] if chunk.is_last else row)
        return rows

    def _ends_sentence(self, text: str) -> bool:
        return text.endswith("\n") if self.rule == "lines" else _AT_END.search(text) is not None


def _parts(ids: list[int]) -> Iterator[list[int]]:
    """Yield the ids of a sentence in about equal parts of at most LONGEST."""
    count = -(-len(ids) // LONGEST)
    cuts = [len(ids) * number // count for number in range(count + 1)] if count else []
    for begin, end in pairwise(cuts):
        yield ids[begin:end]
