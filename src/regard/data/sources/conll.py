"""Tagged sentences from CoNLL files, tables, JSON and `datasets`; span tags are converted to IOB2."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard import miniature
from regard.config.parsing import parse_integer
from regard.data.settings.examples import TagSource
from regard.data.sources.labeled import MINIATURE
from regard.data.sources.lines import read_lines
from regard.data.sources.tag_check import TagsSeen, check_tags
from regard.data.sources.tagged_tables import WAY_OUT, TaggedRow, find_tag_columns, tag_table, tagged_in
from regard.errors import DataError
from regard.metrics.spans import as_iob2, entities, find_scheme
from regard.progress import SILENT, Progress

DOCUMENT_START = "-DOCSTART-"
CONLLU_WORD, CONLLU_TAG, CONLLU_COLUMNS = 1, 3, 10
"""CoNLL-U: the columns of the word form and the part of speech, and the number of columns."""

TABLES = (".csv", ".jsonl", ".ndjson", ".json")
NOTHING: Mapping[str, Any] = {}
SCHEMES = {"iob1": "IOB1", "iob2": "IOB2", "bioes": "BIOES"}


def read_tagged(source: TagSource, progress: Progress = SILENT, has_tags: bool = True) -> list[TaggedRow]:
    """Return all sentences of a source, in order; without tags if `has_tags` is False."""
    return read_tagged_with_columns(source, progress, has_tags)[0]


def read_tagged_with_columns(
    source: TagSource,
    progress: Progress = SILENT,
    has_tags: bool = True,
    usual: Mapping[str, Any] = NOTHING,
) -> tuple[list[TaggedRow], dict[str, str]]:
    """Return all sentences of a source and its table columns; the training set's columns are tried first."""
    if source.path.startswith(MINIATURE):
        return make_tagged(source.path.removeprefix(MINIATURE), source.max_rows, progress), {}
    columns: dict[str, str] = {}
    seen = TagsSeen()
    suffix = Path(source.path.removesuffix(".gz")).suffix.lower()
    if (
        source.path.startswith("hf:")
        or suffix in TABLES
        or (suffix == ".tsv" and _has_header(source, has_tags, usual))
    ):
        table = tag_table(source, has_tags, usual)
        if not table.names:
            raise DataError(f"{source.name}: there are no sentences in it.")
        chosen = find_tag_columns(table, source, has_tags, usual)
        progress.info(f"{table.origin}: {chosen.shown()}.")
        sentences, columns = tagged_in(table, chosen, seen=seen), chosen.plain() if table.has_header else {}
    else:
        sentences = _from_columns(source, progress, has_tags, seen)
    if not sentences:
        raise DataError(f"{source.name}: there are no sentences in it.")
    if has_tags:
        check_tags(seen, source, progress)
    kept = sentences[: source.max_rows]
    if len(kept) < len(sentences):
        progress.info(f"{source.name}: the first {len(kept):,} of {len(sentences):,} sentences are used (max_rows).")
    return _with_one_scheme(kept, source, progress) if has_tags else kept, columns


def _has_header(source: TagSource, has_tags: bool, defaults: Mapping[str, Any]) -> bool:
    """Return whether a .tsv has a header; without one it is a CoNLL file."""
    return tag_table(source, has_tags, defaults).has_header


def make_tagged(name: str, count: int | None, progress: Progress = SILENT) -> list[TaggedRow]:
    """Return generated news sentences of the miniature world with their entities."""
    split = miniature.place(name, ("entities",)).split
    sentences = miniature.entities(split, count)
    rows: list[TaggedRow] = []
    with progress.bar(f"make {name}", count or miniature.ENTITY_SPLITS[split].size) as bar:
        for sentence in sentences:
            rows.append(TaggedRow(sentence.tokens, sentence.tags))
            bar.advance()
    return rows


def _with_one_scheme(sentences: list[TaggedRow], source: TagSource, progress: Progress) -> list[TaggedRow]:
    """Return sentences with spans tagged as IOB2; the detected scheme and its violations are reported."""
    scheme, broken = find_scheme(each.tags for each in sentences)
    if source.scheme == "none" or scheme == "none":
        return sentences
    if source.scheme not in ("auto", scheme):
        progress.warn(
            f"{source.name}: its tags look like {SCHEMES[scheme]}, not {SCHEMES[source.scheme]}; spans are read as "
            f"tagged either way."
        )
    progress.info(f"{source.name}: span tags are {SCHEMES[scheme]}.")
    if broken:
        progress.warn(
            f"{source.name}: {broken:,} spans break the rules of {SCHEMES[scheme]}; they are read as conlleval does."
        )
    return [each._replace(tags=tuple(as_iob2(entities(each.tags), len(each.words)))) for each in sentences]


def _from_columns(source: TagSource, progress: Progress, has_tags: bool, seen: TagsSeen) -> list[TaggedRow]:
    path = Path(source.path)
    lines = read_lines(path)
    words = [line for line in lines if line.strip()]
    first = next((line for line in words if not line.startswith("#")), "") or max(words, key=_tabs, default="")
    separator = "\t" if "\t" in first else None
    columns = len(first.split(separator))
    is_conllu = path.name.removesuffix(".gz").endswith(".conllu") and columns == CONLLU_COLUMNS
    word = _number(source.word_column, CONLLU_WORD if is_conllu else 0, source.path)
    tag = _number(source.label_column, CONLLU_TAG if is_conllu else columns - 1, source.path) if has_tags else word
    if has_tags and word == tag:
        raise DataError(
            f"{path}: the first line has {columns} column{'s' * (columns != 1)}; a word and its tag need two."
        )
    sentences, rows = list[TaggedRow](), list[tuple[str, str]]()
    for number, line in enumerate([*lines, ""], start=1):
        cells = line.split(separator)
        if not line.strip():
            if rows:
                sentences.append(TaggedRow(*map(tuple, zip(*rows))))
            rows = []
        elif not _is_comment(cells, columns, is_conllu):
            rows.append(_cells(cells, word, tag, f"{path}: line {number}"))
            seen.add((rows[-1][1],), f"line {number}")
    shown = f", their tags in column {tag}" if has_tags else ""
    progress.info(f"{path}: the words are in column {word}{shown} (counted from 0).")
    return [each if has_tags else each._replace(tags=()) for each in sentences]


def _tabs(line: str) -> int:
    return line.count("\t")


def _is_comment(cells: Sequence[str], columns: int, is_conllu: bool) -> bool:
    """Return whether a line is a comment; one that begins with # may also be a word."""
    if cells[0].startswith("#") and len(cells) != columns:
        return True
    if is_conllu and parse_integer(cells[0]) is None:  # "1-2", a multiword token, and "1.1", an empty node
        return True
    return cells[0] == DOCUMENT_START


def _cells(cells: Sequence[str], word: int, tag: int, where: str) -> tuple[str, str]:
    if max(word, tag) >= len(cells):
        raise DataError(
            f"{where} has {len(cells)} column{'s' * (len(cells) != 1)}, but column {max(word, tag)} (counted from 0) "
            f"is needed; {WAY_OUT}."
        )
    pair = cells[word].strip(), cells[tag].strip()
    if not all(pair):
        raise DataError(f"{where} has no {'tag' if pair[0] else 'word'}; fix the line, or {WAY_OUT}.")
    return pair


def _number(given: str | int | None, default: int, path: str) -> int:
    if isinstance(given, str):
        raise DataError(f'{path}: the columns of a CoNLL file have no names such as "{given}"; give a number from 0.')
    return default if given is None else given
