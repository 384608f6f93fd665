"""Extractive question answering: questions, contexts and answer spans from SQuAD's JSON, tables and data sets."""

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
    """A right answer and its character offset in the context; -1 if it does not occur there."""

    text: str
    start: int


class QuestionRow(NamedTuple):
    """A question, its context and all right answers; none if the context has no answer."""

    name: str
    question: str
    context: str
    answers: tuple[GoldAnswer, ...]


def read_questions(
    source: QuestionSource, progress: Progress = SILENT, has_answers: bool = True
) -> list[QuestionRow]:
    """Return all questions of a source, in order; without answers if `has_answers` is False."""
    if source.path.startswith(MINIATURE):
        return make_questions(source.path.removeprefix(MINIATURE), source.max_rows, progress)
    is_document = Path(source.path.removesuffix(".gz")).suffix.lower() == ".json"
    questions = list((_from_document if is_document else _from_table)(source, has_answers))
    if not questions:
        raise DataError(f"{source.name}: there are no questions in it; {WAY_OUT}.")
    kept = questions[: source.max_rows]
    if len(kept) < len(questions):
        progress.info(f"{source.name}: the first {len(kept):,} of {len(questions):,} questions are used (max_rows).")
    if has_answers:
        _report(source, kept, progress)
    return kept


def make_questions(name: str, count: int | None, progress: Progress = SILENT) -> list[QuestionRow]:
    """Return generated questions about stories of the miniature world."""
    split = miniature.place(name, ("questions",)).split
    asked = miniature.questions(split, count)
    rows: list[QuestionRow] = []
    with progress.bar(f"make {name}", count or miniature.EXAMPLE_SPLITS[split].size) as bar:
        for each in asked:
            answers = tuple(GoldAnswer(*answer) for answer in each.answers)
            rows.append(QuestionRow(str(len(rows)), each.question, each.context, answers))
            bar.advance()
    return rows


def _report(source: QuestionSource, questions: Sequence[QuestionRow], progress: Progress) -> None:
    without = sum(not each.answers for each in questions)
    progress.info(
        f"{source.name}: {len(questions):,} questions about {len({each.context for each in questions}):,} texts, "
        f"{without or 'none'} of them without an answer."
    )
    lost = [each for each in questions if each.answers and all(answer.start < 0 for answer in each.answers)]
    if lost:
        progress.warn(
            f"{source.name}: the answers of {len(lost):,} questions do not occur in their texts, such as "
            f'"{lost[0].answers[0].text}" of "{lost[0].question}"; they count in '
            f"scores, but are not trained on."
        )


def _from_document(source: QuestionSource, has_answers: bool) -> Iterator[QuestionRow]:
    """Yield the questions of a SQuAD file (articles of paragraphs of questions), or of a list of rows."""
    try:
        document = parse_json(read_text(Path(source.path)))
    except ParseError as error:
        raise DataError(f"{source.path}: this is not SQuAD's JSON ({error}); {WAY_OUT}.") from None
    articles = document if isinstance(document, list) else _inside(document, "data", source.path, "the file")
    if articles and not any(isinstance(each, Mapping) and "paragraphs" in each for each in articles):
        yield from _from_table(source, has_answers)
        return
    number = 0
    for count, article in enumerate(articles, start=1):
        for paragraph in _inside(article, "paragraphs", source.path, f"article {count}"):
            for question in _inside(paragraph, "qas", source.path, f"a paragraph of article {count}"):
                if not isinstance(question, Mapping):
                    raise DataError(f"{source.path}: question {number} is not a JSON object; {WAY_OUT}.")
                yield _from_squad(question, paragraph.get("context"), number, source, has_answers)
                number += 1


def _inside(value: Any, name: str, path: str, what: str) -> list[Any]:
    """Return a list field of SQuAD's JSON."""
    entries = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(entries, list):
        raise DataError(f'{path}: this is not SQuAD\'s JSON ({what} has no list "{name}"); {WAY_OUT}.')
    return entries


def _from_squad(question: Row, context: Any, number: int, source: QuestionSource, has_answers: bool) -> QuestionRow:
    name = _name(question, "id", number, f"{source.name}: question {number}")
    where = f"{source.name}: question {name}"
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
    """Return a question's id, or its number where it has none."""
    return (label_in(row, column, where, "give it an id that is a text") if column else "") or str(number)


def _from_table(source: QuestionSource, has_answers: bool) -> Iterator[QuestionRow]:
    table = read_rows(source.path, source.config, source.split, lambda row: True)
    known = {name.strip().lower(): name for name in table.names}
    asked, about = question_columns(table.names, table.origin)
    answer = next((known[name] for name in ANSWER_NAMES if name in known), None)
    if has_answers and answer is None:
        raise DataError(f"{table.origin}: there is no column answers ({', '.join(table.names)}); {WAY_OUT}.")
    table.check_once(asked, about, answer, known.get("answer_start"), known.get("id"))
    for number, (line, row) in enumerate(table.rows):
        if not row:
            continue
        where = f"{source.name}: {line}"
        yield _question(
            _name(row, known.get("id"), number, where),
            text_in(row, asked, where, WAY_OUT),
            _text(row.get(about), where, "context"),
            _answers_in(row, answer, known.get("answer_start"), where) if has_answers and answer else [],
            where,
        )


def question_columns(names: Sequence[str], origin: str) -> tuple[str, str]:
    """Return the columns of a table that hold questions and contexts."""
    known = {name.strip().lower(): name for name in names}
    columns = []
    for what, likely in (("question", QUESTION_NAMES), ("context", CONTEXT_NAMES)):
        column = next((known[name] for name in likely if name in known), None)
        if column is None:
            raise DataError(f"{origin}: there is no column {what} ({', '.join(names)}); {WAY_OUT}.")
        columns.append(column)
    return columns[0], columns[1]


def _answers_in(row: Row, name: str, start: str | None, where: str) -> list[tuple[Any, Any]]:
    """Return (text, character offset) of each answer of a row, as they stand."""
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
        raise DataError(f"{where} has {kind_of(value)} as its answers, not text; {WAY_OUT}.")
    return [
        (each.get("text"), each.get("answer_start")) if isinstance(each, Mapping) else (each, None) for each in value
    ]


def _as_list(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def _question(name: str, question: str, context: str, answers: Sequence[tuple[Any, Any]], where: str) -> QuestionRow:
    gold = []
    for value, begin in answers:
        text, offset = _text(value, where, "answer"), integer_in(begin)
        gold.append(GoldAnswer(text, _located(context, text, -1 if offset is None else offset)))
    return QuestionRow(name, question, context, tuple(gold))


def _located(context: str, answer: str, begin: int) -> int:
    """Return an answer's character offset: the given one, else the nearest occurrence; -1 if it does not occur."""
    if begin >= 0 and context.startswith(answer, begin):
        return begin
    after, before = context.find(answer, max(0, begin)), context.rfind(answer, 0, max(0, begin) + len(answer))
    offsets = [offset for offset in (after, before) if offset >= 0]
    return min(offsets, key=lambda offset: abs(offset - begin)) if offsets else -1


def _text(value: Any, where: str, what: str) -> str:
    if isinstance(value, str) and value.strip():
        return whole(value, where, what)
    if value is None or isinstance(value, str):
        raise DataError(f"{where} has no {what}; {WAY_OUT}.")
    raise DataError(f"{where} has {kind_of(value)} as its {what}, not text; {WAY_OUT}.")
