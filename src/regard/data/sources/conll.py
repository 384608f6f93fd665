"""Words with a tag each, out of CoNLL files, tables, JSON and data sets; spans are always marked as IOB2."""

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
"""In CoNLL-U the form of a word and its part of speech, and how many columns there are."""

TABLES = (".csv", ".jsonl", ".ndjson", ".json")
NOTHING: Mapping[str, Any] = {}
SCHEMES = {"iob1": "IOB1", "iob2": "IOB2", "bioes": "BIOES"}


def read_tagged(place: TagSource, progress: Progress = SILENT, has_tags: bool = True) -> list[TaggedRow]:
    """Return all sentences of a place, in order; without tags where none are needed."""
    return read_tagged_with_columns(place, progress, has_tags)[0]


def read_tagged_with_columns(
    place: TagSource,
    progress: Progress = SILENT,
    has_tags: bool = True,
    usual: Mapping[str, Any] = NOTHING,
) -> tuple[list[TaggedRow], dict[str, str]]:
    """Return all sentences of a place, and the columns of a table they are in, the usual ones if it has those."""
    if place.path.startswith(MINIATURE):
        return make_tagged(place.path.removeprefix(MINIATURE), place.max_rows, progress), {}
    columns: dict[str, str] = {}
    seen = TagsSeen()
    suffix = Path(place.path.removesuffix(".gz")).suffix.lower()
    if place.path.startswith("hf:") or suffix in TABLES or (suffix == ".tsv" and _has_names(place, has_tags, usual)):
        table = tag_table(place, has_tags, usual)
        if not table.names:
            raise DataError(f"{place.name}: there are no sentences in it.")
        chosen = find_tag_columns(table, place, has_tags, usual)
        progress.say(f"{table.origin}: {chosen.shown()}.")
        found, columns = tagged_in(table, chosen, seen=seen), chosen.plain() if table.has_header else {}
    else:
        found = _from_columns(place, progress, has_tags, seen)
    if not found:
        raise DataError(f"{place.name}: there are no sentences in it.")
    if has_tags:
        check_tags(seen, place, progress)
    kept = found[: place.max_rows]
    if len(kept) < len(found):
        progress.say(f"{place.name}: the first {len(kept):,} of {len(found):,} sentences are used (count).")
    return _with_one_scheme(kept, place, progress) if has_tags else kept, columns


def _has_names(place: TagSource, has_tags: bool, usual: Mapping[str, Any]) -> bool:
    """Tell whether the first row of a .tsv names its columns; without names it is a CoNLL file."""
    return tag_table(place, has_tags, usual).has_header


def make_tagged(name: str, count: int | None, progress: Progress = SILENT) -> list[TaggedRow]:
    """Return news of the miniature world with the names in it, made on the spot."""
    split = miniature.place(name, ("entities",)).split
    sentences = miniature.entities(split, count)
    found: list[TaggedRow] = []
    with progress.bar(f"make {name}", count or miniature.ENTITY_SPLITS[split].size) as bar:
        for sentence in sentences:
            found.append(TaggedRow(sentence.tokens, sentence.tags))
            bar.advance()
    return found


def _with_one_scheme(sentences: list[TaggedRow], place: TagSource, progress: Progress) -> list[TaggedRow]:
    """Return sentences whose spans are marked as IOB2; what a file does and does wrong is said."""
    scheme, broken = find_scheme(each.tags for each in sentences)
    if place.scheme == "none" or scheme == "none":
        return sentences
    if place.scheme not in ("auto", scheme):
        progress.warn(
            f"{place.name}: its tags look like {SCHEMES[scheme]}, not {SCHEMES[place.scheme]}; spans are read where "
            f"the tags put them either way."
        )
    progress.say(f"{place.name}: tags mark spans ({SCHEMES[scheme]}).")
    if broken:
        progress.warn(
            f"{place.name}: {broken:,} spans break the rules of {SCHEMES[scheme]}; they are read as conlleval does."
        )
    return [each._replace(tags=tuple(as_iob2(entities(each.tags), len(each.words)))) for each in sentences]


def _from_columns(place: TagSource, progress: Progress, has_tags: bool, seen: TagsSeen) -> list[TaggedRow]:
    path = Path(place.path)
    lines = read_lines(path)
    words = [line for line in lines if line.strip()]
    first = next((line for line in words if not line.startswith("#")), "") or max(words, key=_tabs, default="")
    separator = "\t" if "\t" in first else None
    columns = len(first.split(separator))
    is_conllu = path.name.removesuffix(".gz").endswith(".conllu") and columns == CONLLU_COLUMNS
    word = _number(place.word_column, CONLLU_WORD if is_conllu else 0, place.path)
    tag = _number(place.label_column, CONLLU_TAG if is_conllu else columns - 1, place.path) if has_tags else word
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
    progress.say(f"{path}: the words are in column {word}{shown} (counted from 0).")
    return [each if has_tags else each._replace(tags=()) for each in sentences]


def _tabs(line: str) -> int:
    return line.count("\t")


def _is_comment(cells: Sequence[str], columns: int, is_conllu: bool) -> bool:
    """Tell a line about the words from a word; one that begins with # may be either."""
    if cells[0].startswith("#") and len(cells) != columns:
        return True
    if (
        is_conllu and parse_integer(cells[0]) is None
    ):  # "1-2", a word written together, and "1.1", one that is not there
        return True
    return cells[0] == DOCUMENT_START


def _cells(cells: Sequence[str], word: int, tag: int, where: str) -> tuple[str, str]:
    if max(word, tag) >= len(cells):
        raise DataError(
            f"{where} has {len(cells)} column{'s' * (len(cells) != 1)}, but column {max(word, tag)} (counted from 0) "
            f"is needed; {WAY_OUT}."
        )
    found = cells[word].strip(), cells[tag].strip()
    if not all(found):
        raise DataError(f"{where} has no {'tag' if found[0] else 'word'}; mend the line, or {WAY_OUT}.")
    return found


def _number(given: str | int | None, usual: int, path: str) -> int:
    if isinstance(given, str):
        raise DataError(f'{path}: the columns of a CoNLL file have no names such as "{given}"; give a number from 0.')
    return usual if given is None else given
