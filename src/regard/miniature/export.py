"""The sets of the miniature world as rows, and as files of the usual forms: CSV, CoNLL columns, SQuAD JSON."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from regard.errors import DataError
from regard.miniature.examples import entities, likeness, opinions, paraphrases, questions, reviews, word_senses
from regard.miniature.places import TEXT_SETS, texts
from regard.miniature.splits import pairs
from regard.miniature.stories import stories, story_probes

Row = dict[str, Any]


def _pairs(split: str, count: int, seed: int) -> Iterator[Row]:
    return (each._asdict() for each in pairs(split, count, seed))


def _entities(split: str, count: int, seed: int) -> Iterator[Row]:
    return ({"tokens": each.tokens, "tags": each.tags} for each in entities(split, count, seed))


def _likeness(split: str, count: int, seed: int) -> Iterator[Row]:
    for each in likeness(split, count, seed):
        yield {"sentence1": each.first, "sentence2": each.second, "score": each.score}


def _paraphrases(split: str, count: int, seed: int) -> Iterator[Row]:
    for each in paraphrases(split, count, seed):
        yield {"sentence1": each.first, "sentence2": each.second, "label": "yes" if each.is_same else "no"}


def _plots(split: str, count: int, seed: int) -> Iterator[Row]:
    for _, each in zip(range(count), stories(split, seed), strict=False):
        yield {"text": " ".join(each.sentences), "label": each.plot}


def _probes(split: str, count: int, seed: int) -> Iterator[Row]:
    for each in story_probes(split, count, seed):
        yield {"context": each.prefix, "choice0": each.choices[0], "choice1": each.choices[1], "label": each.label}


def _questions(split: str, count: int, seed: int) -> Iterator[Row]:
    for each in questions(split, count, seed):
        answers = [{"text": answer.text, "answer_start": answer.start} for answer in each.answers]
        yield {"title": each.title, "context": each.context, "question": each.question, "answers": answers}


def _reviews(split: str, count: int, seed: int) -> Iterator[Row]:
    return (each._asdict() for each in reviews(split, count, seed))


def _opinions(split: str, count: int, seed: int) -> Iterator[Row]:
    return (each._asdict() for each in opinions(split, count, seed))


def _senses(split: str, count: int, seed: int) -> Iterator[Row]:
    return (each._asdict() for each in word_senses(split, count, seed))


def _table(rows: Iterable[Row]) -> Iterator[str]:
    """Lines of CSV, with the names of the columns first."""
    for number, row in enumerate(rows):
        line = io.StringIO()
        writer = csv.writer(line, lineterminator="\n")
        writer.writerows([row, row.values()] if number == 0 else [row.values()])
        yield line.getvalue().removesuffix("\n")


def _tabs(rows: Iterable[Row]) -> Iterator[str]:
    return ("\t".join(row.values()) for row in rows)


def _columns(rows: Iterable[Row]) -> Iterator[str]:
    """A token and its tag a line, with a blank line after each sentence."""
    for row in rows:
        yield from (f"{token} {tag}" for token, tag in zip(row["tokens"], row["tags"], strict=True))
        yield ""


def _squad(rows: Iterable[Row]) -> Iterator[str]:
    """One JSON value of the form of SQuAD 2."""
    data = []
    for number, (context, group) in enumerate(groupby(rows, key=lambda row: str(row["context"]))):
        found = list(group)
        asked = [
            {
                "id": f"{number}-{place}",
                "question": row["question"],
                "answers": row["answers"],
                "is_impossible": not row["answers"],
            }
            for place, row in enumerate(found)
        ]
        data.append({"title": found[0]["title"], "paragraphs": [{"context": context, "qas": asked}]})
    yield json.dumps({"version": "2.0", "data": data}, ensure_ascii=False)


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False) for row in rows)


_SETS: Final[dict[str, tuple[Callable[[str, int, int], Iterator[Row]], Callable[[Iterable[Row]], Iterator[str]]]]] = {
    "pairs": (_pairs, _tabs),
    "plots": (_plots, _table),
    "reviews": (_reviews, _table),
    "opinions": (_opinions, _table),
    "paraphrases": (_paraphrases, _table),
    "likeness": (_likeness, _table),
    "probes": (_probes, _table),
    "entities": (_entities, _columns),
    "questions": (_questions, _squad),
    "senses": (_senses, _lines),
}

EXPORTED: Final = (*_SETS, *(name for name in TEXT_SETS if name not in _SETS))


def exported(name: str, split: str, count: int, seed: int = 0, as_rows: bool = False) -> Iterator[str]:
    """Lines of a set in its usual form, or as JSON with one example a line."""
    if name in _SETS:
        rows, form = _SETS[name]
        return (_lines if as_rows else form)(rows(split, count, seed))
    if name not in TEXT_SETS:
        raise DataError(f'set: "{name}" is not one of {", ".join(EXPORTED)}.')
    found = texts(f"{name}/{split}", count, seed)
    return _lines({"text": text} for text in found) if as_rows else (f"{text}\n" for text in found)
