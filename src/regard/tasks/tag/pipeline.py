"""Tagging pipeline: a tag for each word of a text, and the spans that the tags mark."""

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
from regard.tasks.finetune.records import LabelFacts

WORD = re.compile(r"https?://\S+|[@#]?\w+(?:[-'’.&/_]\w+)*|[^\w\s]")
"""Words of running text: URLs, @names and #tags, words with inner punctuation, and single punctuation marks."""


@dataclass(frozen=True)
class TaggedSpan:
    """A predicted span: text, kind, words (begin to end, exclusive), and the joint probability of its tags."""

    text: str
    kind: str
    begin: int
    end: int
    probability: float


@dataclass(frozen=True)
class Tagging:
    """The words of a text, the most probable tag of each with its probability, and the spans that the tags mark."""

    text: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]
    spans: tuple[TaggedSpan, ...]


class Tagger(HeadPipeline):
    """Tags every word of a text."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, in the order of the outputs."""
        return tuple(LabelFacts.read(self.bundle).labels)

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
        """Tag one text, or a list of them, in order; a tuple holds the words of a text.

        `lines` are their line numbers, for messages.
        """
        if isinstance(text, str | tuple):
            return self._tag([text], lines or [1], progress)[0]
        return self._tag(text, lines or range(1, len(text) + 1), progress)

    def _tag(self, given: Sequence[str | tuple[str, ...]], lines: Sequence[int], progress: Progress) -> list[Tagging]:
        texts = [as_texts(each, f"line {line:,}") for line, each in zip(lines, given, strict=True)]
        rows = [split_words(each) if isinstance(each, str) else words for each, words in zip(given, texts)]
        for line, words in zip(lines, rows, strict=True):
            check_texts(words or [""], f"line {line:,}")
        encoded = encode_tagged(rows, None, self.tokenizer, self.template, self.max_length)
        scores = sentence_scores(encoded, self._scores(encoded, progress), len(rows))
        probabilities = [softmax(each) for each in scores]
        return [
            self._tagging(" ".join(words) if isinstance(text, tuple) else text, words, each)
            for text, words, each in zip(given, rows, probabilities, strict=True)
        ]

    def _tagging(self, text: str, words: tuple[str, ...], probabilities: Probabilities) -> Tagging:
        labels, chosen = self.tags, probabilities.argmax(1)
        tags = tuple(labels[number] for number in chosen)
        confidence = probabilities[np.arange(len(words)), chosen]
        marked = entities(tags) if marks_spans(labels) else []
        # Words are tagged independently: a span may begin with I.
        if marked and {tag[0] for tag in labels} <= set("BIO"):
            tags = tuple(as_iob2(marked, len(words)))
        spans = tuple(
            TaggedSpan(" ".join(words[begin:end]), kind, begin, end, float(confidence[begin:end].prod()))
            for kind, begin, end in marked
        )
        return Tagging(text, words, tags, tuple(confidence.tolist()), spans)


def split_words(text: str) -> tuple[str, ...]:
    """Return the words and punctuation marks of a text."""
    return tuple(WORD.findall(text))


def sentence_scores(encoded: EncodedTags, outputs: Sequence[Scores], sentences: int) -> list[Scores]:
    """Return the scores of each sentence's words (W, C), joined over the chunks it was encoded in."""
    chunks: list[list[Scores]] = [[] for _ in range(sentences)]
    for owner, scores in zip(encoded.owners.tolist(), outputs, strict=True):
        chunks[owner].append(scores)
    return [np.concatenate(each) for each in chunks]
