"""Words with a tag each, out of CoNLL files, JSON lines and data sets; spans are always marked as IOB2."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from regard.data import miniature
from regard.data.label_settings import TagSource
from regard.data.labelled import MINIATURE
from regard.data.lines import is_text, read_lines
from regard.data.records import value_in
from regard.data.tables import Table, read_rows
from regard.errors import DataError
from regard.metrics import as_iob2, entities, find_scheme
from regard.progress import SILENT, Progress

WORD_NAMES = ("tokens", "words", "text", "sentence")
TAG_NAMES = ("tags", "ner_tags", "labels", "ner", "entities", "pos_tags", "upos", "pos", "chunk_tags", "label")
DOCUMENT_START = "-DOCSTART-"
CONLLU_WORD, CONLLU_TAG, CONLLU_COLUMNS = 1, 3, 10
"""In CoNLL-U the form of a word and its part of speech, and how many columns there are."""

WAY_OUT = "name the columns with data.train.word_column=NAME and --label-column"
SCHEMES = {"iob1": "IOB1", "iob2": "IOB2", "bioes": "BIOES"}


class Tagged(NamedTuple):
    """The words of a sentence and the tag of each; without tags where none are needed."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


def read_tagged(place: TagSource, progress: Progress = SILENT, has_tags: bool = True) -> list[Tagged]:
    """Return all sentences of a place, in order; without tags where none are needed."""
    if place.path.startswith(MINIATURE):
        return make_tagged(place.path.removeprefix(MINIATURE), place.count, progress)
    suffix = Path(place.path.removesuffix(".gz")).suffix.lower()
    if place.path.startswith("hf:") or suffix in (".jsonl", ".ndjson"):
        found = _from_rows(place, progress, has_tags)
    elif suffix in (".csv", ".json"):
        raise DataError(
            f"{place.path}: words with tags come as CoNLL (a word and its tag a line, a blank line between "
            f"sentences) or as .jsonl with lists of tokens and tags; convert the file."
        )
    else:
        found = _from_columns(place, progress, has_tags)
    if not found:
        raise DataError(f"{place.name}: there are no sentences in it.")
    kept = found[: place.count]
    if len(kept) < len(found):
        progress.say(f"{place.name}: the first {len(kept):,} of {len(found):,} sentences are used (count).")
    return _with_one_scheme(kept, place, progress) if has_tags else kept


def make_tagged(name: str, count: int | None, progress: Progress = SILENT) -> list[Tagged]:
    """Return news of the miniature world with the names in it, made on the spot."""
    split = miniature.place(name, ("entities",)).split
    sentences = miniature.entities(split, count)
    found: list[Tagged] = []
    with progress.bar(f"make {name}", count or miniature.ENTITY_SPLITS[split].size) as bar:
        for sentence in sentences:
            found.append(Tagged(sentence.tokens, sentence.tags))
            bar.advance()
    return found


def _with_one_scheme(sentences: list[Tagged], place: TagSource, progress: Progress) -> list[Tagged]:
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


def _from_columns(place: TagSource, progress: Progress, has_tags: bool) -> list[Tagged]:
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
    sentences, rows = list[Tagged](), list[tuple[str, str]]()
    for number, line in enumerate([*lines, ""], start=1):
        cells = line.split(separator)
        if not line.strip():
            if rows:
                sentences.append(Tagged(*map(tuple, zip(*rows))))
            rows = []
        elif not _is_comment(cells, columns, is_conllu):
            rows.append(_cells(cells, word, tag, f"{path}: line {number}"))
    shown = f", their tags in column {tag}" if has_tags else ""
    progress.say(f"{path}: the words are in column {word}{shown} (counted from 0).")
    return [each if has_tags else each._replace(tags=()) for each in sentences]


def _tabs(line: str) -> int:
    return line.count("\t")


def _is_comment(cells: Sequence[str], columns: int, is_conllu: bool) -> bool:
    """Tell a line about the words from a word; one that begins with # may be either."""
    if cells[0].startswith("#") and len(cells) != columns:
        return True
    if is_conllu and not cells[0].isdigit():  # "1-2", a word written together, and "1.1", one that is not there
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


def _from_rows(place: TagSource, progress: Progress, has_tags: bool) -> list[Tagged]:
    table = read_rows(place.path, place.config, place.split, lambda row: True)
    words = _column(table, place.word_column, WORD_NAMES, "words")
    tags = _column(table, place.label_column, TAG_NAMES, "tags") if has_tags else None
    shown = "" if tags is None else f', their tags in "{tags}"'
    progress.say(f'{table.origin}: the words are in "{words}"{shown}.')
    found = []
    for where, row in table.rows:
        if not row:
            continue
        said = _listed(row, words, f"{place.name}: {where}")
        told = () if tags is None else _listed(row, tags, f"{place.name}: {where}")
        if tags is not None and len(said) != len(told):
            raise DataError(f"{place.name}: {where} has {len(said)} words but {len(told)} tags; each word needs one.")
        if said:
            found.append(Tagged(said, told))
    return found


def _column(table: Table, given: str | int | None, likely: Sequence[str], what: str) -> str:
    if given is not None:
        return table.column(given)
    known = {name.strip().lower(): name for name in table.names}
    found = next((known[name] for name in likely if name in known), None)
    if found is None:
        names = ", ".join(table.names)
        raise DataError(f"{table.origin}: no field ({names}) is known to hold the {what}; {WAY_OUT}.")
    return found


def _listed(row: Mapping[str, Any], name: str, where: str) -> tuple[str, ...]:
    found = row[name] if name in row else value_in(row, name)
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise DataError(f'{where} has no list under "{name}"; {WAY_OUT}.')
    said = tuple("" if each is None else str(each).strip() for each in found)
    if not all(said) or not all(map(is_text, said)):
        raise DataError(f'{where} has an empty or broken entry under "{name}"; mend it.')
    return said
