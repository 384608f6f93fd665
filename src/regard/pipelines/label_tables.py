"""A table in, the same table with labels, numbers, spans, answers or choices out."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.settings.examples import ChoiceSource, TagSource
from regard.data.sources.multiple_choice import choices_in
from regard.data.sources.squad import question_columns
from regard.data.sources.tables import Table, read_rows
from regard.data.sources.tagged_tables import TagColumns, sentences_in, tagged_in, word_columns
from regard.data.sources.tagged_tables import tag_table as read_tag_table
from regard.pipelines.text_tables import TextTable, read_text_table, with_texts
from regard.progress import SILENT, Progress
from regard.tasks.answer.pipeline import QuestionAnswerer
from regard.tasks.classify.pipeline import Classifier, MultipleChoice
from regard.tasks.regress.pipeline import Regressor
from regard.tasks.tag.pipeline import Tagger


@dataclass(frozen=True)
class AnsweredTable:
    """A table, and the answer to each of its rows; None where a text is blank."""

    table: TextTable
    answers: list[Any]
    names: list[str]
    """The columns that are added."""
    as_cells: Callable[[Any], list[str]]
    as_record: Callable[[Any], dict[str, Any]]

    def cells(self) -> list[list[str]]:
        """Return the header and all rows as cells of text."""
        blank = [""] * len(self.names)
        return self.table.cells(self.names, (self.as_cells(each) if each else blank for each in self.answers))

    def records(self) -> list[dict[str, Any]]:
        """Return all rows with what was added, by name."""
        known = next((each for each in self.answers if each), None)
        nothing = dict.fromkeys(self.as_record(known)) if known else {}
        return self.table.records(self.as_record(each) if each else nothing for each in self.answers)


def label_table(
    classifier: Classifier, path: str, columns: Sequence[str | int] = (), progress: Progress = SILENT
) -> AnsweredTable:
    """Label the rows of a .csv, .tsv or .jsonl file (.gz too); `columns` name the texts if they cannot be guessed."""
    table = read_text_table(path, columns, classifier.texts, classifier.columns, progress)
    return AnsweredTable(
        table,
        _answers(classifier, table, progress),
        ["label", *(f"probability_{each}" for each in classifier.labels)],
        lambda each: [each.label, *(f"{value:.6f}" for value in each.probabilities.values())],
        lambda each: {"label": each.label, "probabilities": each.probabilities},
    )


def rate_table(
    regressor: Regressor, path: str, columns: Sequence[str | int] = (), progress: Progress = SILENT
) -> AnsweredTable:
    """Give the rows of a table their numbers."""
    table = read_text_table(path, columns, regressor.texts, regressor.columns, progress)
    return AnsweredTable(
        table,
        _answers(regressor, table, progress),
        ["number"],
        lambda each: [f"{each.number:.6f}"],
        lambda each: {"number": each.number},
    )


def tag_table(
    tagger: Tagger,
    path: str,
    columns: Sequence[str | int] = (),
    progress: Progress = SILENT,
    word_column: str | int | None = None,
) -> AnsweredTable:
    """Tag the text of each row: its words, their tags, and the spans (as JSON in a cell).

    A table whose words are split already is taken so: with a word a row, each row gets its tag.
    """
    if not columns:
        place = TagSource(path=path, word_column=word_column)
        words = read_tag_table(place, False, tagger.columns)
        if (found := word_columns(words, place, tagger.columns)) is not None:
            progress.say(f"{path}: {found.shown()}.")
            return _tagged_words(tagger, words, found, progress)
    table = read_text_table(path, columns, 1, tagger.columns, progress)
    return _tagged(table, _answers(tagger, table, progress))


def _tagged(table: TextTable, answers: list[Any]) -> AnsweredTable:
    spans = lambda each: [vars(span) for span in each.spans]
    return AnsweredTable(
        table,
        answers,
        ["words", "tags", "spans"],
        lambda each: [" ".join(each.words), " ".join(each.tags), json.dumps(spans(each), ensure_ascii=False)],
        lambda each: {"words": each.words, "tags": each.tags, "spans": spans(each)},
    )


def _tagged_words(tagger: Tagger, table: Table, columns: TagColumns, progress: Progress) -> AnsweredTable:
    """Tag words that are split already: each row gets the tag of its word, or those of all of its words."""
    answers: list[Any] = [None] * len(table.rows)
    places = list(sentences_in(table, columns))
    sentences = [each.words for each in tagged_in(table, columns, keeps_empty=True)]
    found = iter(tagger([each for each in sentences if each], progress=progress))
    for rows, words in zip(places, sentences, strict=True):
        if not words:
            continue
        tagging = next(found)
        if columns.has_word_a_row:
            for row, tag, probability in zip(rows, tagging.tags, tagging.probabilities, strict=True):
                answers[row] = (tag, probability)
        else:
            answers[rows[0]] = tagging
    rows_of = TextTable(table.names, [row for _, row in table.rows], [], [])
    if not columns.has_word_a_row:
        return _tagged(rows_of, answers)
    return AnsweredTable(
        rows_of,
        answers,
        ["tag", "probability"],
        lambda each: [each[0], f"{each[1]:.6f}"],
        lambda each: {"tag": each[0], "probability": each[1]},
    )


def answer_table(
    answerer: QuestionAnswerer, path: str, threshold: float | None = None, progress: Progress = SILENT
) -> AnsweredTable:
    """Answer the question of each row about its context."""
    rows = read_rows(path, None, "train", lambda row: True)
    table = with_texts(rows, question_columns(rows.names, path), progress)
    asked: Any = [texts for texts in table.texts if all(texts)]
    replies = iter(answerer(asked, threshold=threshold, progress=progress))
    return AnsweredTable(
        table,
        [next(replies) if all(texts) else None for texts in table.texts],
        ["answer", "probability"],
        lambda each: [each.text, f"{each.answer.probability:.6f}"],
        lambda each: {"answer": each.text, "probability": each.answer.probability},
    )


def choose_table(chooser: MultipleChoice, path: str, progress: Progress = SILENT) -> AnsweredTable:
    """Choose among the choices of each row: its number (from 0), its text, and how likely each one is."""
    table = read_rows(path, None, "train", lambda row: True)
    examples = choices_in(table, ChoiceSource(path=path), chooser.columns, progress)
    found = iter(chooser([(each.context, each.choices) for each in examples if each], progress=progress))
    most = max((len(each.choices) for each in examples if each), default=0)
    rows = TextTable(table.names, [row for _, row in table.rows], [], [])
    return AnsweredTable(
        rows,
        [next(found) if each else None for each in examples],
        ["number", "choice", *(f"probability_{number}" for number in range(most))],
        lambda each: [
            *(str(each.number), each.choice),
            *(f"{value:.6f}" for value in each.probabilities),
            *[""] * (most - len(each.probabilities)),
        ],
        lambda each: {"number": each.number, "choice": each.choice, "probabilities": each.probabilities},
    )


def _answers(pipeline: Any, table: TextTable, progress: Progress) -> list[Any]:
    """Return the answer to each row; None where a text is blank."""
    given: Any = [texts[0] if len(texts) == 1 else texts for texts in table.texts if all(texts)]
    found = pipeline(given, progress=progress)
    cut = sum(getattr(each, "is_truncated", False) for each in found)
    if cut:
        progress.warn(f"{cut:,} of the texts are longer than this model reads, and their ends were left out.")
    answers = iter(found)
    return [next(answers) if all(texts) else None for texts in table.texts]
