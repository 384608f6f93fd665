"""`regard answer`: a question and a text in, the span of the text that answers it out."""

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
            metavar="[QUESTION TEXT]",
            help="A question, and the text that it is about; unset: standard input, one a line, with a tab between.",
        ),
    ] = None,
    context: Annotated[
        Path | None, typer.Option("--context", "-c", help="The file that questions are about, in place of TEXT.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", "-f", help="SQuAD's .json, a .csv, .tsv or .jsonl with context and question, or lines."
        ),
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Answers to each question, the best first.")] = 1,
    threshold: Annotated[
        float | None,
        typer.Option(help="How much better no answer must be to give none; unset: what was best in validation."),
    ] = None,
    out: TableOut = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Answer questions about texts: the probability of an answer and the answer, in order; CSV for tables.

    An empty answer means that the text has none. With --context a line that comes in is a question alone.
    """
    from regard.cli.console import progress
    from regard.tasks.load import load_answerer
    from regard.training.device.machine import use_threads

    _check(words, context, file, out)
    use_threads(threads)
    answerer = load_answerer(run, device or "auto", precision=precision)
    reporter = progress(quiet)
    if _has_rows(file):
        from regard.tasks.answer.table import answer_table

        write_table(answer_table(answerer, str(file), threshold, reporter), out, json)
        return
    for rows in _asked(words, context, file, reporter):
        given = [(row[0], row[1]) for row in rows if row]
        replies = iter(answerer(given, count=count, threshold=threshold, progress=reporter))
        for row in rows:
            _print({"id": row[2]} if len(row) > 2 else {}, next(replies) if row else None, json)


def _has_rows(file: Path | None) -> bool:
    """Tell whether a file is a table; a .json is SQuAD's here."""
    return is_table(file) and not _is_json(file)


def _is_json(file: Path | None) -> bool:
    return file is not None and Path(file.name.removesuffix(".gz")).suffix.lower() == ".json"


def _check(words: list[str] | None, context: Path | None, file: Path | None, out: Path | None) -> None:
    """Refuse words that contradict each other, before a model is loaded."""
    from regard.errors import ConfigError

    if words and file is not None:
        raise ConfigError("Give either a question and its text or --file, not both.")
    if context is None and words and len(words) != 2:
        raise ConfigError(f"Give one question and one text, or questions and --context FILE; here are {len(words)}.")
    if context is not None and file is not None:
        raise ConfigError("--context goes with questions on the command line; leave it or --file out.")
    if out is not None and not _has_rows(file):
        raise ConfigError("--out is for tables; give one with --file.")
    check_out(out)


def _asked(
    words: list[str] | None, context: Path | None, file: Path | None, reporter: Any
) -> Iterable[list[tuple[str, ...]]]:
    """Yield questions with their texts, and behind them their names where they have one; () is a blank line."""
    from regard.data.settings.examples import QuestionSource
    from regard.data.sources.lines import read_text
    from regard.data.sources.squad import read_questions

    if _is_json(file):
        found = read_questions(QuestionSource(path=str(file)), reporter, has_answers=False)
        yield [(each.question, each.context, each.name) for each in found]
        return
    if context is None:
        if words:
            yield [(words[0], words[1])]
        else:
            yield from split_lines(file, "a question and its text", (2,))
        return
    about = read_text(context)
    for rows in [[(each,) for each in words]] if words else split_lines(file, "a question", (1,)):
        yield [(*row, about) if row else () for row in rows]


def _print(name: dict[str, str], reply: Any, as_json: bool) -> None:
    """Print the answers to a question, a line each; a blank line for a blank one."""
    from regard.cli.console import print_json, print_line

    if reply is None:
        print_json(None, indent=None) if as_json else print_line("")
        return
    found = (reply.answer, *reply.others)
    if as_json:
        answers = [vars(each) for each in found]
        print_json(
            {**name, "question": reply.question, "answers": answers, "null_score_gap": reply.null_score_gap},
            indent=None,
        )
        return
    for each in found:
        print_line("\t".join([*name.values(), f"{each.probability:.4f}", " ".join(each.text.split())]))
