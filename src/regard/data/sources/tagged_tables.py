"""Words with tags out of tables: a word a row, or the words of a sentence in one."""

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
"""Names of columns with a word a row."""
WORD_NAMES = ("tokens", "words", "text", "sentence")
TAG_NAMES = (
    *("tags", "ner_tags", "tag", "ner_tag", "labels", "ner", "entities", "entity", "iob", "bio", "pos_tags", "upos"),
    *("pos", "pos_tag", "chunk_tags", "chunk", "label"),
)
SENTENCE_WORDS = {"sentence", "sent", "sentences"}
"""Words in the name of a column that says which sentence a word belongs to."""
GLANCE = 1000
"""Rows that show how a table is made."""
LONGEST = 1000
"""Words that a table without any mark between sentences may have."""

WAY_OUT = "name the columns with data.train.word_column=NAME and --label-column"


class TaggedRow(NamedTuple):
    """The words of a sentence and the tag of each; without tags where none are needed."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


class TagColumns(NamedTuple):
    """Which columns hold words and tags, and which one tells sentences apart where each row has one word."""

    word: str
    tag: str | None
    sentence: str | None
    has_word_a_row: bool

    def plain(self) -> dict[str, str]:
        """Return them as settings."""
        found = {"word_column": self.word, "label_column": self.tag, "sentence_column": self.sentence}
        return {name: value for name, value in found.items() if value is not None}

    def shown(self) -> str:
        """Return them in words."""
        tags = "" if self.tag is None else f', their tags in "{self.tag}"'
        if not self.has_word_a_row:
            return f'the words are in "{self.word}"{tags}'
        between = "a blank row between sentences" if self.sentence is None else f'sentences by "{self.sentence}"'
        return f'the words are in "{self.word}"{tags}, a word a row, {between}'


def tag_table(place: TagSource, has_tags: bool, usual: Mapping[str, Any]) -> Table:
    """Return a table of words; its first row names columns where a user or a run says so, or names are known."""

    def is_header(row: Sequence[str]) -> bool:
        known = {cell.strip().lower() for cell in row}
        given = (place.word_column, place.label_column, place.sentence_column, *usual.values())
        if {name.lower() for name in given if isinstance(name, str)} & known:
            return True
        has_words = bool(known & {*ONE_WORD, *WORD_NAMES})
        return has_words and (not has_tags or bool(known & set(TAG_NAMES)))

    return read_rows(place.path, place.config, place.split, is_header)


def find_tag_columns(table: Table, place: TagSource, has_tags: bool, usual: Mapping[str, Any]) -> TagColumns:
    """Return the columns a user named, else those of the training set, else the likely ones."""
    word = _column(table, place.word_column, usual.get("word_column"), (*ONE_WORD, *WORD_NAMES), "words", 0)
    tag = None
    if has_tags:
        tag = _column(table, place.label_column, usual.get("label_column"), TAG_NAMES, "tags", -1)
        if tag == word:
            raise DataError(f'{table.origin}: column "{word}" holds the words, so tags need another; {WAY_OUT}.')
    return _with_form(table, place, word, tag, usual)


def word_columns(table: Table, place: TagSource, usual: Mapping[str, Any]) -> TagColumns | None:
    """Return the columns of a table whose words are split already; None where it holds running text."""
    wanted = place.word_column if place.word_column is not None else usual.get("word_column")
    if place.word_column is not None or (wanted is not None and present(table, [wanted])):
        return find_tag_columns(table, place, False, usual)
    found = named(table.names, (*ONE_WORD, *WORD_NAMES)) if table.has_header else None
    if found is None:
        return None
    columns = _with_form(table, place, found, None, usual)
    holds_lists = any(isinstance(row.get(found), list) for _, row in islice(table.rows, GLANCE))
    return columns if columns.has_word_a_row or holds_lists else None


def _with_form(table: Table, place: TagSource, word: str, tag: str | None, usual: Mapping[str, Any]) -> TagColumns:
    """Return whether each row holds one word, and what tells sentences apart."""
    others = [name for name in table.names if name not in (word, tag)]
    given = place.sentence_column
    if given is None and present(table, [usual.get("sentence_column")]):
        given = usual["sentence_column"]
    marks = [name for name in others if SENTENCE_WORDS & set(words(name))]
    sentence = table.column(given) if given is not None else marks[0] if marks else None
    table.check_once(word, tag, sentence)
    cells = [row.get(word) for _, row in islice(table.rows, GLANCE) if row]
    if any(isinstance(cell, list | tuple) for cell in cells):
        return TagColumns(word, tag, None, False)
    is_word = word.strip().lower() in ONE_WORD or not any(len(str(cell).split()) > 1 for cell in cells)
    is_apart = sentence is not None or any(not row for _, row in table.rows)
    has_word_a_row = is_word and (is_apart or word.strip().lower() in ONE_WORD or not table.has_header)
    return TagColumns(word, tag, sentence if has_word_a_row else None, has_word_a_row)


def _column(table: Table, given: str | int | None, usual: Any, likely: Sequence[str], what: str, place: int) -> str:
    if given is not None:
        return table.column(given)
    if present(table, [usual]):
        return table.column(usual)
    is_plain = len(table.names) == 2 or any(not row for _, row in table.rows)
    if not table.has_header and is_plain and table.names:
        return table.names[place]
    found = named(table.names, likely)
    if found is None:
        raise DataError(f"{table.origin}: no column ({shown(table)}) is known to hold the {what}; {WAY_OUT}.")
    return found


def sentences_in(table: Table, columns: TagColumns) -> Iterable[list[int]]:
    """Yield the rows of each sentence; each row that is not blank is in one of them."""
    held, name = list[int](), None
    for number, (_, row) in enumerate(table.rows):
        said = row.get(columns.sentence) if row and columns.sentence else None
        told = "" if said is None else str(said).strip()
        if held and (not row or not columns.has_word_a_row or (told and told != name)):
            yield held
            held = []
        name = told or name
        if row:
            held.append(number)
    if held:
        yield held


def tagged_in(
    table: Table, columns: TagColumns, keeps_empty: bool = False, seen: TagsSeen | None = None
) -> list[TaggedRow]:
    """Return all sentences of a table; a row whose list is empty is one only where that is wanted."""
    seen = seen or TagsSeen()
    places = list(sentences_in(table, columns))
    if columns.has_word_a_row and len(places) == 1 and len(places[0]) > LONGEST:
        raise DataError(
            f"{table.origin}: nothing says where a sentence ends in {len(places[0]):,} words; leave a blank row "
            f"between sentences, or name the column that numbers them with data.train.sentence_column=NAME."
        )
    found = []
    for rows in places:
        said, told = list[str](), list[str]()
        for number in rows:
            where, row = table.rows[number]
            said += _entries(row, columns.word, f"{table.origin}: {where}", columns.has_word_a_row)
            if columns.tag is not None:
                tags = _entries(row, columns.tag, f"{table.origin}: {where}", columns.has_word_a_row)
                seen.add(tags, where)
                told += tags
        if columns.tag is not None and len(said) != len(told):
            where = table.rows[rows[0]][0]
            raise DataError(
                f"{table.origin}: {where} has {len(said)} words but {len(told)} tags; each word needs one."
            )
        if said or keeps_empty:
            found.append(TaggedRow(tuple(said), tuple(told)))
    return found


def _entries(row: Row, name: str, where: str, is_one: bool) -> Sequence[str]:
    """Return what a cell holds: one word or tag, or a list of them, which a table may write as text."""
    if is_one:
        said = [label_in(row, name, where, WAY_OUT)]
        if not said[0]:
            raise DataError(f'{where} has nothing under "{name}"; fill it, or {WAY_OUT}.')
        return said
    said = labels_in(row, name, where, WAY_OUT)
    if not all(said):
        raise DataError(f'{where} has an empty or broken entry under "{name}"; mend it.')
    return said
