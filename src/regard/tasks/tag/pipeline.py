"""Text in, its words with a tag each and the spans they mark out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from regard.data.encoding.tagged import EncodedTags, encode_tagged
from regard.metrics.spans import as_iob2, entities, marks_spans
from regard.pipelines.head_scores import Probabilities, Scores, softmax
from regard.progress import SILENT, Progress
from regard.tasks.finetune.pipeline import HeadPipeline, Lines, as_texts, check_texts

WORD = re.compile(r"https?://\S+|[@#]?\w+(?:[-'’.&/_]\w+)*|[^\w\s]")
"""Words of running text: addresses, names with @ or #, letters and digits with marks inside, and marks one by one."""


@dataclass(frozen=True)
class TaggedSpan:
    """A span that was found: its text, its kind, its words (from, to before), and how sure the model is of all."""

    text: str
    kind: str
    begin: int
    end: int
    probability: float


@dataclass(frozen=True)
class Tagging:
    """The words of a text, the likeliest tag of each with its probability, and the spans that the tags mark."""

    text: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]
    spans: tuple[TaggedSpan, ...]


class Tagger(HeadPipeline):
    """Gives every word of a text one of the tags it has learned."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags it knows."""
        return tuple(self.bundle.facts["labels"])

    @overload
    def __call__(
        self, text: str | tuple[str, ...], *, lines: Lines = None, progress: Progress = SILENT
    ) -> Tagging: ...
    @overload
    def __call__(
        self,
        text: list[str] | list[tuple[str, ...]],
        *,
        lines: Lines = None,
        progress: Progress = SILENT,
    ) -> list[Tagging]: ...
    def __call__(
        self,
        text: str | tuple[str, ...] | list[str] | list[tuple[str, ...]],
        *,
        lines: Lines = None,
        progress: Progress = SILENT,
    ) -> Tagging | list[Tagging]:
        """Tag one text, or many of them, in a list, in their order; a tuple is a text that is split into words.

        `lines` are their numbers in what they were taken from: messages name them.
        """
        if isinstance(text, str | tuple):
            return self._tag([text], lines or [1], progress)[0]
        return self._tag(text, lines or range(1, len(text) + 1), progress)

    def _tag(self, given: Sequence[str | tuple[str, ...]], lines: Sequence[int], progress: Progress) -> list[Tagging]:
        texts = [as_texts(each, f"line {line:,}") for line, each in zip(lines, given, strict=True)]
        rows = [split_words(each) if isinstance(each, str) else words for each, words in zip(given, texts)]
        for line, words in zip(lines, rows, strict=True):
            check_texts(words or [""], f"line {line:,}")
        encoded = encode_tagged(rows, None, self.tokenizer, self.frame, self.max_length)
        found = [softmax(each) for each in sentence_scores(encoded, self._scores(encoded, progress), len(rows))]
        return [
            self._answer(" ".join(words) if isinstance(text, tuple) else text, words, each)
            for text, words, each in zip(given, rows, found, strict=True)
        ]

    def _answer(self, text: str, words: tuple[str, ...], probabilities: Probabilities) -> Tagging:
        chosen = probabilities.argmax(1)
        tags = tuple(self.tags[number] for number in chosen)
        sure = probabilities[np.arange(len(words)), chosen]
        found = entities(tags) if marks_spans(self.tags) else []
        if found and {tag[0] for tag in self.tags} <= set(
            "BIO"
        ):  # a word is tagged by itself: a span may begin with I
            tags = tuple(as_iob2(found, len(words)))
        spans = tuple(
            TaggedSpan(" ".join(words[begin:end]), kind, begin, end, float(sure[begin:end].prod()))
            for kind, begin, end in found
        )
        return Tagging(text, words, tags, tuple(sure.tolist()), spans)


def split_words(text: str) -> tuple[str, ...]:
    """Return the words and marks of a text."""
    return tuple(WORD.findall(text))


def sentence_scores(encoded: EncodedTags, found: Sequence[Scores], sentences: int) -> list[Scores]:
    """Return the scores of each sentence's words (W, C), whatever pieces it was read in."""
    pieces: list[list[Scores]] = [[] for _ in range(sentences)]
    for owner, scores in zip(encoded.owners.tolist(), found, strict=True):
        pieces[owner].append(scores)
    return [np.concatenate(each) for each in pieces]
