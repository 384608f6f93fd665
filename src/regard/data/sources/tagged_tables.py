"""Tagged sentences from tables with one word per row, or one sentence per row."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from regard.data.settings.examples import TagSource
from regard.data.sources.cells import Row, label_in, labels_in
from regard.data.sources.columns import named, present, shown, words
from regard.data.sources.tables import Table, read_rows
from regard.data.sources.tag_check import TagsSeen
from regard.errors import DataError

ONE_WORD = ("word", "token", "form")
"""Names of columns with one word per row."""
WORD_NAMES = ("tokens", "words", "text", "sentence")
TAG_NAMES = (
    *("tags", "ner_tags", "tag", "ner_tag", "labels", "ner", "entities", "entity", "iob", "bio", "pos_tags", "upos"),
    *("pos", "pos_tag", "chunk_tags", "chunk", "label"),
)
SENTENCE_WORDS = {"sentence", "sent", "sentences"}
"""Words in the name of the column that identifies the sentence of a word."""
GLANCE = 1000
"""Rows inspected to detect the layout of a table."""
LONGEST = 1000
"""Maximum number of words in a table without sentence boundaries."""

WAY_OUT = "name the columns with data.train.word_column=NAME and --label-column"


class TaggedRow(NamedTuple):
    """The words of a sentence and their tags; no tags where none are needed."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


class TagColumns(NamedTuple):
    """The columns of words and tags, and of the sentence's id where each row has one word."""

    word: str
    tag: str | None
    sentence: str | None
    has_word_a_row: bool

    def plain(self) -> dict[str, str]:
        """Return them as settings."""
        columns = {"word_column": self.word, "label_column": self.tag, "sentence_column": self.sentence}
        return {name: value for name, value in columns.items() if value is not None}

    def shown(self) -> str:
        """Return them as a phrase."""
        tags = "" if self.tag is None else f', their tags in "{self.tag}"'
        if not self.has_word_a_row:
            return f'the words are in "{self.word}"{tags}'
        between = "a blank row between sentences" if self.sentence is None else f'sentences by "{self.sentence}"'
        return f'the words are in "{self.word}"{tags}, one word per row, {between}'


def tag_table(source: TagSource, has_tags: bool, defaults: Mapping[str, Any]) -> Table:
    """Return a table of words; its first row is a header if it has a declared or a likely column name."""

    def is_header(row: Sequence[str]) -> bool:
        known = {cell.strip().lower() for cell in row}
        given = (source.word_column, source.label_column, source.sentence_column, *defaults.values())
        if {name.lower() for name in given if isinstance(name, str)} & known:
            return True
        has_words = bool(known & {*ONE_WORD, *WORD_NAMES})
        return has_words and (not has_tags or bool(known & set(TAG_NAMES)))

    return read_rows(source.path, source.config, source.split, is_header)


def find_tag_columns(table: Table, source: TagSource, has_tags: bool, defaults: Mapping[str, Any]) -> TagColumns:
    """Return the columns named in the settings, else the training set's, else likely ones."""
    word = _column(table, source.word_column, defaults.get("word_column"), (*ONE_WORD, *WORD_NAMES), "words", 0)
    tag = None
    if has_tags:
        tag = _column(table, source.label_column, defaults.get("label_column"), TAG_NAMES, "tags", -1)
        if tag == word:
            raise DataError(f'{table.origin}: column "{word}" holds the words, so the tags need another; {WAY_OUT}.')
    return _with_layout(table, source, word, tag, defaults)


def word_columns(table: Table, source: TagSource, defaults: Mapping[str, Any]) -> TagColumns | None:
    """Return the columns of a table whose text is already split into words; None for running text."""
    wanted = source.word_column if source.word_column is not None else defaults.get("word_column")
    if source.word_column is not None or (wanted is not None and present(table, [wanted])):
        return find_tag_columns(table, source, False, defaults)
    word = named(table.names, (*ONE_WORD, *WORD_NAMES)) if table.has_header else None
    if word is None:
        return None
    columns = _with_layout(table, source, word, None, defaults)
    holds_lists = any(isinstance(row.get(word), list) for _, row in islice(table.rows, GLANCE))
    return columns if columns.has_word_a_row or holds_lists else None


def _with_layout(
    table: Table, source: TagSource, word: str, tag: str | None, defaults: Mapping[str, Any]
) -> TagColumns:
    """Return the columns with the table's layout: one word or one sentence per row, and the sentence column."""
    others = [name for name in table.names if name not in (word, tag)]
    given = source.sentence_column
    if given is None and present(table, [defaults.get("sentence_column")]):
        given = defaults["sentence_column"]
    marks = [name for name in others if SENTENCE_WORDS & set(words(name))]
    sentence = table.column(given) if given is not None else marks[0] if marks else None
    table.check_once(word, tag, sentence)
    cells = [row.get(word) for _, row in islice(table.rows, GLANCE) if row]
    if any(isinstance(cell, list | tuple) for cell in cells):
        return TagColumns(word, tag, None, False)
    is_word = word.strip().lower() in ONE_WORD or not any(len(str(cell).split()) > 1 for cell in cells)
    has_boundaries = sentence is not None or any(not row for _, row in table.rows)
    has_word_a_row = is_word and (has_boundaries or word.strip().lower() in ONE_WORD or not table.has_header)
    return TagColumns(word, tag, sentence if has_word_a_row else None, has_word_a_row)


def _column(
    table: Table, given: str | int | None, default: Any, likely: Sequence[str], what: str, position: int
) -> str:
    if given is not None:
        return table.column(given)
    if present(table, [default]):
        return table.column(default)
    is_plain = len(table.names) == 2 or any(not row for _, row in table.rows)
    if not table.has_header and is_plain and table.names:
        return table.names[position]
    column = named(table.names, likely)
    if column is None:
        raise DataError(f"{table.origin}: no column ({shown(table)}) is known to hold the {what}; {WAY_OUT}.")
    return column


def sentences_in(table: Table, columns: TagColumns) -> Iterable[list[int]]:
    """Yield the row numbers of each sentence; every non-blank row is in one."""
    held, name = list[int](), None
    for number, (_, row) in enumerate(table.rows):
        value = row.get(columns.sentence) if row and columns.sentence else None
        sentence = "" if value is None else str(value).strip()
        if held and (not row or not columns.has_word_a_row or (sentence and sentence != name)):
            yield held
            held = []
        name = sentence or name
        if row:
            held.append(number)
    if held:
        yield held


def tagged_in(
    table: Table, columns: TagColumns, keeps_empty: bool = False, seen: TagsSeen | None = None
) -> list[TaggedRow]:
    """Return all sentences of a table; rows with an empty list are left out unless `keeps_empty`."""
    seen = seen or TagsSeen()
    groups = list(sentences_in(table, columns))
    if columns.has_word_a_row and len(groups) == 1 and len(groups[0]) > LONGEST:
        raise DataError(
            f"{table.origin}: there is no sentence boundary in {len(groups[0]):,} words; leave a blank row "
            f"between sentences, or name the column that numbers them with data.train.sentence_column=NAME."
        )
    sentences = []
    for rows in groups:
        tokens, tags = list[str](), list[str]()
        for number in rows:
            where, row = table.rows[number]
            tokens += _entries(row, columns.word, f"{table.origin}: {where}", columns.has_word_a_row)
            if columns.tag is not None:
                entries = _entries(row, columns.tag, f"{table.origin}: {where}", columns.has_word_a_row)
                seen.add(entries, where)
                tags += entries
        if columns.tag is not None and len(tokens) != len(tags):
            where = table.rows[rows[0]][0]
            raise DataError(
                f"{table.origin}: {where} has {len(tokens)} words but {len(tags)} tags; each word needs one."
            )
        if tokens or keeps_empty:
            sentences.append(TaggedRow(tuple(tokens), tuple(tags)))
    return sentences


def _entries(row: Row, name: str, where: str, is_one: bool) -> Sequence[str]:
    """Return the words or tags of a cell: one, or a list, which a table may write as text."""
    if is_one:
        entries = [label_in(row, name, where, WAY_OUT)]
        if not entries[0]:
            raise DataError(f'{where} has nothing under "{name}"; fill it, or {WAY_OUT}.')
        return entries
    entries = labels_in(row, name, where, WAY_OUT)
    if not all(entries):
        raise DataError(f'{where} has an empty or broken entry under "{name}"; fix it.')
    return entries
