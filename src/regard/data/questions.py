"""Questions about a text whose answers are spans of it, out of SQuAD's JSON, tables and data sets."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from regard.data import miniature
from regard.data.label_settings import QuestionSource
from regard.data.labelled import MINIATURE
from regard.data.lines import is_text, read_text
from regard.data.tables import Row, read_rows, text_in
from regard.errors import DataError
from regard.progress import SILENT, Progress

WAY_OUT = "give SQuAD's JSON, or a table with the columns context, question and answer (or answers)"
QUESTION_NAMES = ("question", "query")
CONTEXT_NAMES = ("context", "passage", "paragraph", "text", "article", "document")
ANSWER_NAMES = ("answers", "answer", "answer_text")


class Answer(NamedTuple):
    """A right answer, and where in its context it begins; -1 if it is not there."""

    text: str
    start: int


class Question(NamedTuple):
    """A question, the text that is asked about, and all right answers; none means that the text has none."""

    name: str
    question: str
    context: str
    answers: tuple[Answer, ...]


def read_questions(place: QuestionSource, progress: Progress = SILENT, has_answers: bool = True) -> list[Question]:
    """Return all questions of a place, in order; without answers where none are needed."""
    if place.path.startswith(MINIATURE):
        return make_questions(place.path.removeprefix(MINIATURE), place.count, progress)
    is_document = Path(place.path.removesuffix(".gz")).suffix.lower() == ".json"
    found = list((_from_document if is_document else _from_table)(place, has_answers))
    if not found:
        raise DataError(f"{place.name}: there are no questions in it; {WAY_OUT}.")
    kept = found[: place.count]
    if len(kept) < len(found):
        progress.say(f"{place.name}: the first {len(kept):,} of {len(found):,} questions are used (count).")
    if has_answers:
        _say(place, kept, progress)
    return kept


def make_questions(name: str, count: int | None, progress: Progress = SILENT) -> list[Question]:
    """Return questions about stories of the miniature world, made on the spot."""
    split = miniature.place(name, ("questions",)).split
    asked = miniature.questions(split, count)
    found: list[Question] = []
    with progress.bar(f"make {name}", count or miniature.EXAMPLE_SPLITS[split].size) as bar:
        for each in asked:
            answers = tuple(Answer(*answer) for answer in each.answers)
            found.append(Question(str(len(found)), each.question, each.context, answers))
            bar.advance()
    return found


def _say(place: QuestionSource, questions: Sequence[Question], progress: Progress) -> None:
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


def _reason(error: Exception) -> str:
    """Return what is wrong with a document, in words."""
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def _from_document(place: QuestionSource, has_answers: bool) -> Iterator[Question]:
    """Yield the questions of a file in the form of SQuAD: articles of paragraphs of questions; or a list of rows."""
    try:
        document = json.loads(read_text(Path(place.path)))
        articles = document if isinstance(document, list) else document["data"]
        if articles and all("paragraphs" not in each for each in articles):
            yield from _from_table(place, has_answers)
            return
        paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
        asked = [(each["context"], question) for each in paragraphs for question in each["qas"]]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{place.path}: this is not SQuAD's JSON ({_reason(error)}); {WAY_OUT}.") from None
    for number, (context, question) in enumerate(asked):
        where = f"{place.name}: question {question.get('id', number)}"
        answers: Any = () if question.get("is_impossible") else question.get("answers")
        yield _question(
            str(question.get("id", number)),
            _text(question.get("question"), where, "question"),
            _text(context, where, "context"),
            answers if has_answers else (),
            where,
        )


def _from_table(place: QuestionSource, has_answers: bool) -> Iterator[Question]:
    table = read_rows(place.path, place.config, place.split, lambda row: True)
    known = {name.strip().lower(): name for name in table.names}
    asked, about = question_columns(table.names, table.origin)
    answer = next((known[name] for name in ANSWER_NAMES if name in known), None)
    if has_answers and answer is None:
        raise DataError(f"{table.origin}: there is no column answers ({', '.join(table.names)}); {WAY_OUT}.")
    for number, (place_in_file, row) in enumerate(table.rows):
        if not row:
            continue
        where = f"{place.name}: {place_in_file}"
        yield _question(
            str(row[known["id"]]) if "id" in known else str(number),
            text_in(row, asked, where, WAY_OUT),
            _text(row.get(about), where, "context"),
            _answers_in(row, answer, known.get("answer_start")) if has_answers and answer else (),
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


def _answers_in(row: Row, name: str, start: str | None) -> Any:
    """Return what a row says about answers, in the form of SQuAD's list."""
    value = row.get(name)
    if isinstance(value, str):
        given = row.get(start, "") if start else ""
        begin = int(given) if str(given).isdecimal() else -1
        return [{"text": value, "answer_start": begin}] if value.strip() else []
    if isinstance(value, Mapping):  # {"text": [...], "answer_start": [...]}
        texts = value.get("text", ())
        return [
            {"text": text, "answer_start": begin}
            for text, begin in zip(texts, value.get("answer_start") or [-1] * len(texts))
        ]
    return [] if value is None else value


def _question(name: str, question: str, context: str, answers: Any, where: str) -> Question:
    if not isinstance(answers, Sequence) or isinstance(answers, str):
        raise DataError(f"{where} has no answers; {WAY_OUT}.")
    found = []
    for answer in answers:
        each = answer if isinstance(answer, Mapping) else {"text": answer}
        text = _text(each.get("text"), where, "answer")
        begin = each.get("answer_start", -1)
        found.append(Answer(text, _located(context, text, begin if isinstance(begin, int) else -1)))
    return Question(name, question, context, tuple(found))


def _located(context: str, answer: str, begin: int) -> int:
    """Return where an answer begins: as it is said, or else at the occurrence nearest to that; -1: nowhere."""
    if begin >= 0 and context.startswith(answer, begin):
        return begin
    after, before = context.find(answer, max(0, begin)), context.rfind(answer, 0, max(0, begin) + len(answer))
    places = [place for place in (after, before) if place >= 0]
    return min(places, key=lambda place: abs(place - begin)) if places else -1


def _text(value: Any, where: str, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{where} has no {what}; {WAY_OUT}.")
    if not is_text(value):
        raise DataError(f"{where} has half a character (a lone surrogate) in its {what}.")
    return value
