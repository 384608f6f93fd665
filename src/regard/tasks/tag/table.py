"""Tagging of the rows of a table."""

import json
from collections.abc import Sequence
from typing import Any

from regard.data.settings.examples import TagSource
from regard.data.sources.tables import Table
from regard.data.sources.tagged_tables import TagColumns, sentences_in, tagged_in, word_columns
from regard.data.sources.tagged_tables import tag_table as read_tag_table
from regard.pipelines.result_tables import ResultTable, row_results
from regard.pipelines.text_tables import TextTable, read_text_table
from regard.progress import SILENT, Progress
from regard.tasks.tag.pipeline import Tagger


def tag_table(
    tagger: Tagger,
    path: str,
    columns: Sequence[str | int] = (),
    progress: Progress = SILENT,
    word_column: str | int | None = None,
) -> ResultTable:
    """Tag the text of each row: added are its words, their tags, and the spans (as JSON in a cell).

    Words that are already split are kept; in a table with one word per row, each row gets a tag.
    """
    if not columns:
        source = TagSource(path=path, word_column=word_column)
        words = read_tag_table(source, False, tagger.columns)
        if (named := word_columns(words, source, tagger.columns)) is not None:
            progress.info(f"{path}: {named.shown()}.")
            return _tagged_words(tagger, words, named, progress)
    table = read_text_table(path, columns, 1, tagger.columns, progress)
    return _tagged(table, row_results(tagger, table, progress))


def _tagged(table: TextTable, results: list[Any]) -> ResultTable:
    spans = lambda each: [vars(span) for span in each.spans]
    return ResultTable(
        table,
        results,
        ["words", "tags", "spans"],
        lambda each: [" ".join(each.words), " ".join(each.tags), json.dumps(spans(each), ensure_ascii=False)],
        lambda each: {"words": each.words, "tags": each.tags, "spans": spans(each)},
    )


def _tagged_words(tagger: Tagger, table: Table, columns: TagColumns, progress: Progress) -> ResultTable:
    """Tag words that are already split: each row gets the tag of its word, or the tags of all its words."""
    results: list[Any] = [None] * len(table.rows)
    groups = list(sentences_in(table, columns))
    sentences = [each.words for each in tagged_in(table, columns, keeps_empty=True)]
    taggings = iter(tagger([each for each in sentences if each], progress=progress))
    for rows, words in zip(groups, sentences, strict=True):
        if not words:
            continue
        tagging = next(taggings)
        if columns.has_word_a_row:
            for row, tag, probability in zip(rows, tagging.tags, tagging.probabilities, strict=True):
                results[row] = (tag, probability)
        else:
            results[rows[0]] = tagging
    text_table = TextTable(table.names, [row for _, row in table.rows], [], [])
    if not columns.has_word_a_row:
        return _tagged(text_table, results)
    return ResultTable(
        text_table,
        results,
        ["tag", "probability"],
        lambda each: [each[0], f"{each[1]:.6f}"],
        lambda each: {"tag": each[0], "probability": each[1]},
    )
