"""`regard tag`: token classification."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.answers import answer_lines, check_inputs, write_table
from regard.cli.options import Device, Json, Precision, Quiet, Run, TableOut, TextColumns, Threads, column
from regard.cli.tables import is_table

WORDS = (".conll", ".conllu", ".iob", ".bio", ".iob2")
"""Suffixes of files with one word per line."""


def tag(
    run: Run,
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Texts (default: standard input, one per line).")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-f",
            help="Input file: lines of text, a .conll (one word per line), or a .csv, .tsv or .jsonl table.",
        ),
    ] = None,
    text_column: TextColumns = None,
    word_column: Annotated[
        str | None,
        typer.Option(help="Word column of a .conll (index from 0) or a table (name or index; default: guessed)."),
    ] = None,
    out: TableOut = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Tag words: one tab-separated word and tag per line, a blank line after each text; CSV for tables.

    Each row of a table gets columns with its words, tags and spans, or one tag where a row holds one word.
    """
    from regard.cli.console import print_json, print_line, progress
    from regard.errors import ConfigError
    from regard.tasks.load import load
    from regard.tasks.tag.task import TASK
    from regard.training.device.machine import use_threads

    check_inputs(texts, file, {"text_column": text_column, "out": out})
    has_words = file is not None and Path(file.name.removesuffix(".gz")).suffix.lower() in WORDS
    if word_column is not None and not has_words and not is_table(file):
        raise ConfigError(f"--word-column is for word files ({', '.join(WORDS)}) and tables; leave it out.")
    use_threads(threads)
    tagger = load(run, device or "auto", precision=precision, task=TASK.name)
    reporter = progress(quiet)

    def show(result: Any) -> None:
        if json:
            print_json(result and result.to_dict(), indent=None)
            return
        for word, each in zip(result.words, result.tags) if result is not None else ():
            print_line(f"{word}\t{each}")
        print_line("")

    if is_table(file):
        columns = dict(zip(("text",), map(column, text_column or [])))
        columns |= {} if word_column is None else {"words": column(word_column)}
        write_table(tagger.table(str(file), columns=columns, progress=reporter), out, json)
    elif has_words:
        from regard.data.settings.examples import TagSource
        from regard.data.sources.conll import read_tagged

        source = TagSource(path=str(file), word_column=None if word_column is None else column(word_column))
        sentences = [{"words": each.words} for each in read_tagged(source, reporter, has_tags=False)]
        for result in tagger(sentences, progress=reporter):
            show(result)
    else:
        answer_lines(tagger, texts, file, show, reporter)
