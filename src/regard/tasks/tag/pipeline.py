"""Tagging pipeline: a tag for each word of a text, and the spans that the tags mark."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from regard.config.schema import Doc
from regard.data.settings.examples import TagSource
from regard.data.sources.conll import read_tagged
from regard.data.sources.tables import Table
from regard.data.sources.tagged_tables import TagColumns, sentences_in, tag_table, tagged_in, word_columns
from regard.errors import DataError
from regard.metrics.spans import as_iob2, entities, marks_spans
from regard.pipelines.base import Options, Plain, Result
from regard.pipelines.head_scores import Probabilities, Scores, softmax
from regard.pipelines.inputs import check_text
from regard.pipelines.result_tables import ResultTable
from regard.pipelines.text_tables import TextTable
from regard.progress import SILENT, Progress
from regard.tasks.finetune.pipeline import HeadPipeline
from regard.tasks.finetune.records import LabelFacts

if TYPE_CHECKING:
    from regard.data.encoding.tagged import EncodedTags

WORD = re.compile(r"https?://\S+|[@#]?\w+(?:[-'’.&/_]\w+)*|[^\w\s]")
"""Words of running text: URLs, @names and #tags, words with inner punctuation, and single punctuation marks."""


@dataclass(frozen=True)
class WordsRow:
    """A text, or its words."""

    text: Annotated[str, Doc("The text.")] = ""
    words: Annotated[Sequence[str], Doc("Its words, where it is split already.")] = ()


class TagOptions(Options):
    """Options of tagging: none."""


@dataclass(frozen=True)
class TaggedSpan:
    """A predicted span: text, kind, words (begin to end, exclusive), and the joint probability of its tags."""

    text: str
    kind: str
    begin: int
    end: int
    probability: float


@dataclass(frozen=True)
class Tagging(Result):
    """The words of a text, the most probable tag of each with its probability, and the spans that the tags mark."""

    row: WordsRow
    words: Annotated[tuple[str, ...], Doc("The words of the text.")]
    tags: Annotated[tuple[str, ...], Doc("The most probable tag of each word.")]
    probabilities: Annotated[tuple[float, ...], Doc("The probability of each tag.")]
    spans: Annotated[tuple[TaggedSpan, ...], Doc("The spans that the tags mark.")]

    columns = ("words", "tags", "spans")

    @property
    def text(self) -> str:
        """The tags, separated by spaces."""
        return " ".join(self.tags)

    def lines(self) -> list[str]:
        """Return each word with its tag, and a blank line."""
        return [*(f"{word}\t{tag}" for word, tag in zip(self.words, self.tags)), ""]

    def to_dict(self) -> Plain:
        """Return the text, its words and their tags, and the spans."""
        return super().to_dict() | {"text": self.row.text or " ".join(self.words)}

    def cells(self) -> dict[str, str]:
        """Return words and tags separated by spaces, and the spans as JSON."""
        spans = json.dumps([vars(span) for span in self.spans], ensure_ascii=False)
        return {"words": " ".join(self.words), "tags": self.text, "spans": spans}


@dataclass(frozen=True)
class WordTag(Result):
    """The tag of one word, in a table with a word a row."""

    row: WordsRow
    tag: str
    probability: float

    columns = ("tag", "probability")

    @property
    def text(self) -> str:
        """The tag."""
        return self.tag


class Tagger(HeadPipeline[WordsRow, TagOptions, Tagging]):
    """Tags every word of a text."""

    row = WordsRow
    inputs = ("text", "words")
    options_class = TagOptions
    texts = 1

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, in the order of the outputs."""
        return tuple(LabelFacts.read(self.bundle).labels)

    def check(self, row: WordsRow, options: TagOptions, where: str) -> None:
        """Refuse what is not text, a text and words together, and a text without words."""
        if not isinstance(row.words, list | tuple):
            raise DataError(f"{where}: words is {row.words!r}; give a list of words.")
        if row.words and row.text:
            raise DataError(f"{where} has a text and words; give one of them.")
        for text in row.words or (row.text,):
            check_text(text, where)
        if not words_of(row):
            check_text("", where)

    def predict(self, rows: Sequence[WordsRow], options: TagOptions, progress: Progress = SILENT) -> list[Tagging]:
        """Return the tags of each row's words."""
        words = [words_of(row) for row in rows]
        encoded = self.encode(rows)
        scores = sentence_scores(encoded, self._scores(encoded, progress), len(rows))
        return [self._tagging(*each) for each in zip(rows, words, map(softmax, scores), strict=True)]

    def encode(self, rows: Sequence[WordsRow], progress: Progress = SILENT) -> "EncodedTags":
        """Return the words of rows as ids."""
        from regard.data.encoding.tagged import encode_tagged

        words = [words_of(row) for row in rows]
        return encode_tagged(words, None, self.tokenizer, self.template, self.max_length, progress)

    def _tagging(self, row: WordsRow, words: tuple[str, ...], probabilities: Probabilities) -> Tagging:
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
        return Tagging(row, words, tags, tuple(confidence.tolist()), spans)

    def read_rows(self, path: str, columns: Mapping[str, str | int], progress: Progress) -> list[WordsRow]:
        """Return the sentences of a file with a word a line."""
        source = TagSource(path=path, word_column=columns.get("words"))
        return [WordsRow(words=each.words) for each in read_tagged(source, progress, has_tags=False)]

    def table(
        self,
        path: str | Path,
        *,
        columns: Mapping[str, str | int] | None = None,
        options: TagOptions | None = None,
        progress: Progress = SILENT,
        **overrides: object,
    ) -> ResultTable:
        """Return the rows of a table with words, tags and spans; with one word a row, the tag of each.

        Words that are already split are kept.
        """
        columns = columns or {}
        if "text" not in columns:
            source = TagSource(path=str(path), word_column=columns.get("words"))
            table = tag_table(source, False, self.columns)
            if (named := word_columns(table, source, self.columns)) is not None:
                progress.info(f"{path}: {named.shown()}.")
                return self._tagged_words(table, named, progress)
        return super().table(path, columns=columns, options=options, progress=progress, **overrides)

    def _tagged_words(self, table: Table, columns: TagColumns, progress: Progress) -> ResultTable:
        """Return the tag of each row's word, or the tags of all its words."""
        results: list[Result | None] = [None] * len(table.rows)
        groups = list(sentences_in(table, columns))
        sentences = [each.words for each in tagged_in(table, columns, keeps_empty=True)]
        taggings = iter(self([WordsRow(words=each) for each in sentences if each], progress=progress))
        for rows, words in zip(groups, sentences, strict=True):
            if not words:
                continue
            tagging = next(taggings)
            if columns.has_word_a_row:
                for row, word, tag, value in zip(rows, words, tagging.tags, tagging.probabilities, strict=True):
                    results[row] = WordTag(WordsRow(word), tag, value)
            else:
                results[rows[0]] = tagging
        return ResultTable(TextTable.of(table), results)


def words_of(row: WordsRow) -> tuple[str, ...]:
    """Return the words of a row; a text is split."""
    return tuple(row.words) or split_words(row.text)


def split_words(text: str) -> tuple[str, ...]:
    """Return the words and punctuation marks of a text."""
    return tuple(WORD.findall(text))


def sentence_scores(encoded: "EncodedTags", outputs: Sequence[Scores], sentences: int) -> list[Scores]:
    """Return the scores of each sentence's words (W, C), joined over the chunks it was encoded in."""
    chunks: list[list[Scores]] = [[] for _ in range(sentences)]
    for owner, scores in zip(encoded.owners.tolist(), outputs, strict=True):
        chunks[owner].append(scores)
    return [np.concatenate(each) for each in chunks]
