"""`regard tag`: texts in, their words with tags out."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.answers import answer_lines, check_inputs, write_table
from regard.cli.options import Device, Json, Precision, Quiet, Run, TableOut, TextColumns, Threads, column
from regard.cli.tables import is_table

WORDS = (".conll", ".conllu", ".iob", ".bio", ".iob2")
"""Endings of files with a word a line."""


def tag(
    run: Run,
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Text; unset: standard input, one a line.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="Lines of text, a .conll (a word a line), or a .csv, .tsv or .jsonl."),
    ] = None,
    text_column: TextColumns = None,
    word_column: Annotated[
        str | None, typer.Option(help="Column of a .conll (number from 0) or a table with the words; unset: guessed.")
    ] = None,
    out: TableOut = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Tag words: a word, a tab and its tag a line, a blank line behind each text; CSV for tables.

    Each row of a table gets its words, their tags and its spans; or one tag, where a row holds one word.
    """
    from regard.cli.console import print_json, print_line, progress
    from regard.errors import ConfigError
    from regard.tasks.load import load_tagger
    from regard.training.device.machine import use_threads

    check_inputs(texts, file, {"text_column": text_column, "out": out})
    has_words = file is not None and Path(file.name.removesuffix(".gz")).suffix.lower() in WORDS
    if word_column is not None and not has_words and not is_table(file):
        raise ConfigError(f"--word-column is for files of words ({', '.join(WORDS)}) and tables; leave it out.")
    use_threads(threads)
    tagger = load_tagger(run, device or "auto", precision=precision)
    reporter = progress(quiet)

    def show(answer: Any) -> None:
        if json:
            print_json(None if answer is None else _plain(answer), indent=None)
            return
        for word, each in zip(answer.words, answer.tags) if answer is not None else ():
            print_line(f"{word}\t{each}")
        print_line("")

    if is_table(file):
        from regard.tasks.tag.table import tag_table

        columns = [column(word) for word in text_column or []]
        words = None if word_column is None else column(word_column)
        write_table(tag_table(tagger, str(file), columns, reporter, words), out, json)
    elif has_words:
        from regard.data.settings.examples import TagSource
        from regard.data.sources.conll import read_tagged

        place = TagSource(path=str(file), word_column=None if word_column is None else column(word_column))
        sentences = [each.words for each in read_tagged(place, reporter, has_tags=False)]
        for answer in tagger(sentences, progress=reporter):
            show(answer)
    else:
        answer_lines(tagger, texts, file, show, reporter)


def _plain(answer: Any) -> dict[str, Any]:
    return vars(answer) | {"spans": [vars(span) for span in answer.spans]}
