"""Questions about a text whose answers are spans of it, out of SQuAD's JSON, tables and data sets."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from regard import miniature
from regard.config.parsing import ParseError, parse_json
from regard.data.settings.examples import QuestionSource
from regard.data.sources.cells import Row, integer_in, kind_of, label_in, text_in, whole
from regard.data.sources.labeled import MINIATURE
from regard.data.sources.lines import read_text
from regard.data.sources.tables import read_rows
from regard.errors import DataError
from regard.progress import SILENT, Progress

WAY_OUT = "give SQuAD's JSON, or a table with the columns context, question and answer (or answers)"
QUESTION_NAMES = ("question", "query")
CONTEXT_NAMES = ("context", "passage", "paragraph", "text", "article", "document")
ANSWER_NAMES = ("answers", "answer", "answer_text")


class GoldAnswer(NamedTuple):
    """A right answer, and where in its context it begins; -1 if it is not there."""

    text: str
    start: int


class QuestionRow(NamedTuple):
    """A question, the text that is asked about, and all right answers; none means that the text has none."""

    name: str
    question: str
    context: str
    answers: tuple[GoldAnswer, ...]


def read_questions(place: QuestionSource, progress: Progress = SILENT, has_answers: bool = True) -> list[QuestionRow]:
    """Return all questions of a place, in order; without answers where none are needed."""
    if place.path.startswith(MINIATURE):
        return make_questions(place.path.removeprefix(MINIATURE), place.max_rows, progress)
    is_document = Path(place.path.removesuffix(".gz")).suffix.lower() == ".json"
    found = list((_from_document if is_document else _from_table)(place, has_answers))
    if not found:
        raise DataError(f"{place.name}: there are no questions in it; {WAY_OUT}.")
    kept = found[: place.max_rows]
    if len(kept) < len(found):
        progress.say(f"{place.name}: the first {len(kept):,} of {len(found):,} questions are used (count).")
    if has_answers:
        _say(place, kept, progress)
    return kept


def make_questions(name: str, count: int | None, progress: Progress = SILENT) -> list[QuestionRow]:
    """Return questions about stories of the miniature world, made on the spot."""
    split = miniature.place(name, ("questions",)).split
    asked = miniature.questions(split, count)
    found: list[QuestionRow] = []
    with progress.bar(f"make {name}", count or miniature.EXAMPLE_SPLITS[split].size) as bar:
        for each in asked:
            answers = tuple(GoldAnswer(*answer) for answer in each.answers)
            found.append(QuestionRow(str(len(found)), each.question, each.context, answers))
            bar.advance()
    return found


def _say(place: QuestionSource, questions: Sequence[QuestionRow], progress: Progress) -> None:
    without = sum(not each.answers for each in questions)
    progress.say(
        f"{place.name}: {len(questions):,} questions about {len({each.context for each in questions}):,} texts, "
        f"{without or 'none'} of them without an answer."
    )
    lost = [each for each in questions if each.answers and all(answer.start < 0 for answer in each.answers)]
    if lost:
        progress.warn(
            f"{place.name}: the answers of {len(lost):,} questions do not occur in their texts, such as "
            f'"{lost[0].answers[0].text}" of "{lost[0].question}"; they count in scores, and nothing is learned from '
            f"them."
        )


def _from_document(place: QuestionSource, has_answers: bool) -> Iterator[QuestionRow]:
    """Yield the questions of a file in the form of SQuAD: articles of paragraphs of questions; or a list of rows."""
    try:
        document = parse_json(read_text(Path(place.path)))
    except ParseError as error:
        raise DataError(f"{place.path}: this is not SQuAD's JSON ({error}); {WAY_OUT}.") from None
    articles = document if isinstance(document, list) else _inside(document, "data", place.path, "the file")
    if articles and not any(isinstance(each, Mapping) and "paragraphs" in each for each in articles):
        yield from _from_table(place, has_answers)
        return
    number = 0
    for count, article in enumerate(articles, start=1):
        for paragraph in _inside(article, "paragraphs", place.path, f"article {count}"):
            for question in _inside(paragraph, "qas", place.path, f"a paragraph of article {count}"):
                if not isinstance(question, Mapping):
                    raise DataError(f"{place.path}: question {number} is no JSON object; {WAY_OUT}.")
                yield _from_squad(question, paragraph.get("context"), number, place, has_answers)
                number += 1


def _inside(value: Any, name: str, path: str, what: str) -> list[Any]:
    """Return the list that SQuAD's JSON has in one of its parts."""
    found = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(found, list):
        raise DataError(f'{path}: this is not SQuAD\'s JSON ({what} has no list "{name}"); {WAY_OUT}.')
    return found


def _from_squad(question: Row, context: Any, number: int, place: QuestionSource, has_answers: bool) -> QuestionRow:
    name = _name(question, "id", number, f"{place.name}: question {number}")
    where = f"{place.name}: question {name}"
    is_impossible = question.get("is_impossible") in (True, 1, "true", "True")
    if has_answers and not is_impossible and question.get("answers") is None:
        raise DataError(f"{where} has no answers; {WAY_OUT}.")
    return _question(
        name,
        _text(question.get("question"), where, "question"),
        _text(context, where, "context"),
        _answers_in(question, "answers", None, where) if has_answers and not is_impossible else [],
        where,
    )


def _name(row: Row, column: str | None, number: int, where: str) -> str:
    """Return what a question is called: by its id, or by its number where it has none."""
    return (label_in(row, column, where, "give it an id that is a text") if column else "") or str(number)


def _from_table(place: QuestionSource, has_answers: bool) -> Iterator[QuestionRow]:
    table = read_rows(place.path, place.config, place.split, lambda row: True)
    known = {name.strip().lower(): name for name in table.names}
    asked, about = question_columns(table.names, table.origin)
    answer = next((known[name] for name in ANSWER_NAMES if name in known), None)
    if has_answers and answer is None:
        raise DataError(f"{table.origin}: there is no column answers ({', '.join(table.names)}); {WAY_OUT}.")
    table.check_once(asked, about, answer, known.get("answer_start"), known.get("id"))
    for number, (place_in_file, row) in enumerate(table.rows):
        if not row:
            continue
        where = f"{place.name}: {place_in_file}"
        yield _question(
            _name(row, known.get("id"), number, where),
            text_in(row, asked, where, WAY_OUT),
            _text(row.get(about), where, "context"),
            _answers_in(row, answer, known.get("answer_start"), where) if has_answers and answer else [],
            where,
        )


def question_columns(names: Sequence[str], origin: str) -> tuple[str, str]:
    """Return the columns of a table that hold questions, and the texts they are about."""
    known = {name.strip().lower(): name for name in names}
    found = []
    for what, likely in (("question", QUESTION_NAMES), ("context", CONTEXT_NAMES)):
        column = next((known[name] for name in likely if name in known), None)
        if column is None:
            raise DataError(f"{origin}: there is no column {what} ({', '.join(names)}); {WAY_OUT}.")
        found.append(column)
    return found[0], found[1]


def _answers_in(row: Row, name: str, start: str | None, where: str) -> list[tuple[Any, Any]]:
    """Return what a row says about answers: the text of each, and where it begins."""
    value = row.get(name)
    if value is None or (isinstance(value, str) and not value.strip()):
        return []
    if isinstance(value, str):
        return [(value, row.get(start) if start else None)]
    if isinstance(value, Mapping) and value and "text" not in value:
        raise DataError(f'{where} has answers without "text" (they have {", ".join(map(str, value))}); {WAY_OUT}.')
    if isinstance(value, Mapping):  # {"text": [...], "answer_start": [...]}, or one of each
        texts, begins = (_as_list(value.get(part)) for part in ("text", "answer_start"))
        return list(zip_longest(texts, begins[: len(texts)]))
    if not isinstance(value, list | tuple):
        raise DataError(f"{where} has {kind_of(value)} as its answers, and no text; {WAY_OUT}.")
    return [
        (each.get("text"), each.get("answer_start")) if isinstance(each, Mapping) else (each, None) for each in value
    ]


def _as_list(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def _question(name: str, question: str, context: str, answers: Sequence[tuple[Any, Any]], where: str) -> QuestionRow:
    found = []
    for said, begin in answers:
        text, place = _text(said, where, "answer"), integer_in(begin)
        found.append(GoldAnswer(text, _located(context, text, -1 if place is None else place)))
    return QuestionRow(name, question, context, tuple(found))


def _located(context: str, answer: str, begin: int) -> int:
    """Return where an answer begins: as it is said, or else at the occurrence nearest to that; -1: nowhere."""
    if begin >= 0 and context.startswith(answer, begin):
        return begin
    after, before = context.find(answer, max(0, begin)), context.rfind(answer, 0, max(0, begin) + len(answer))
    places = [place for place in (after, before) if place >= 0]
    return min(places, key=lambda place: abs(place - begin)) if places else -1


def _text(value: Any, where: str, what: str) -> str:
    if isinstance(value, str) and value.strip():
        return whole(value, where, what)
    if value is None or isinstance(value, str):
        raise DataError(f"{where} has no {what}; {WAY_OUT}.")
    raise DataError(f"{where} has {kind_of(value)} as its {what}, and no text; {WAY_OUT}.")
