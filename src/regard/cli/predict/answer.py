"""`regard answer`: extractive question answering."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.answers import split_lines, write_table
from regard.cli.options import Device, Json, Precision, Quiet, Run, TableOut, Threads
from regard.cli.tables import check_out, is_table


def answer(
    run: Run,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[QUESTION CONTEXT]",
            help="Question and context (default: standard input, one tab-separated pair per line).",
        ),
    ] = None,
    context: Annotated[
        Path | None, typer.Option("--context", "-c", help="File with the context of all questions, in place of TEXT.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", "-f", help="Input file: a SQuAD .json, a .csv, .tsv or .jsonl table, or tab-separated lines."
        ),
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Answers per question, best first.")] = 1,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Null score threshold: give no answer if the null score exceeds the best span by more than this "
            "(default: the best on validation)."
        ),
    ] = None,
    out: TableOut = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Answer questions from a context: probability and answer per line, in order; CSV for tables.

    An empty answer means that the context has none. With --context, an input line is only a question.
    """
    from regard.cli.console import progress
    from regard.tasks.answer.task import TASK
    from regard.tasks.load import load
    from regard.training.device.machine import use_threads

    _check(words, context, file, out)
    use_threads(threads)
    answerer = load(run, device or "auto", precision=precision, task=TASK.name)
    reporter = progress(quiet)
    if _has_rows(file):
        write_table(answerer.table(str(file), threshold=threshold, progress=reporter), out, json)
        return
    for rows in _questions(words, context, file, reporter):
        given = [(row[0], row[1]) for row in rows if row]
        answers = iter(answerer(given, count=count, threshold=threshold, progress=reporter))
        for row in rows:
            _print({"id": row[2]} if len(row) > 2 else {}, next(answers) if row else None, json)


def _has_rows(file: Path | None) -> bool:
    """Return True for a table; a .json file has SQuAD's format here."""
    return is_table(file) and not _is_json(file)


def _is_json(file: Path | None) -> bool:
    return file is not None and Path(file.name.removesuffix(".gz")).suffix.lower() == ".json"


def _check(words: list[str] | None, context: Path | None, file: Path | None, out: Path | None) -> None:
    """Raise for conflicting arguments, before a model is loaded."""
    from regard.errors import ConfigError

    if words and file is not None:
        raise ConfigError("Give either a question and its context or --file, not both.")
    if context is None and words and len(words) != 2:
        raise ConfigError(
            f"Give one question and one context, or questions and --context FILE; got {len(words)} arguments."
        )
    if context is not None and file is not None:
        raise ConfigError("--context is for questions on the command line; leave out --context or --file.")
    if out is not None and not _has_rows(file):
        raise ConfigError("--out is for tables; give one with --file.")
    check_out(out)


def _questions(
    words: list[str] | None, context: Path | None, file: Path | None, reporter: Any
) -> Iterable[list[tuple[str, ...]]]:
    """Yield chunks of (question, context[, id]); (): a blank line."""
    from regard.data.settings.examples import QuestionSource
    from regard.data.sources.lines import read_text
    from regard.data.sources.squad import read_questions

    if _is_json(file):
        rows = read_questions(QuestionSource(path=str(file)), reporter, has_answers=False)
        yield [(each.question, each.context, each.name) for each in rows]
        return
    if context is None:
        if words:
            yield [(words[0], words[1])]
        else:
            yield from split_lines(file, "a question and its context", (2,))
        return
    text = read_text(context)
    for lines in [[(each,) for each in words]] if words else split_lines(file, "a question", (1,)):
        yield [(*line, text) if line else () for line in lines]


def _print(name: dict[str, str], answer: Any, as_json: bool) -> None:
    """Print the candidate answers to a question, one per line; a blank line for None."""
    from regard.cli.console import print_json, print_line

    if answer is None:
        print_json(None, indent=None) if as_json else print_line("")
        return
    if as_json:
        print_json(name | answer.to_dict(), indent=None)
        return
    for each in (answer.best, *answer.others):
        print_line("\t".join([*name.values(), f"{each.probability:.4f}", " ".join(each.text.split())]))
