"""`regard answer`: a question and a text in, the span of the text that answers it out."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.answers import write_table
from regard.cli.options import Device, Json, Precision, Quiet, Run, TableOut, Threads
from regard.cli.tables import is_table


def answer(
    run: Run,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[QUESTION TEXT]", help="A question, and the text that it is about."),
    ] = None,
    context: Annotated[
        Path | None, typer.Option("--context", "-c", help="The file that questions are about, in place of TEXT.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="SQuAD's .json, or a .csv, .tsv or .jsonl with context and question."),
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

    An empty answer means that the text has none.
    """
    from regard.cli.console import print_line, progress
    from regard.data.label_settings import QuestionSource
    from regard.data.lines import read_text
    from regard.data.questions import read_questions
    from regard.errors import ConfigError
    from regard.pipelines import load_answerer
    from regard.training import use_threads

    if bool(words) == (file is not None):
        raise ConfigError("Give either a question and its text or --file.")
    if context is None and words and len(words) != 2:
        raise ConfigError(f"Give one question and one text, or questions and --context FILE; here are {len(words)}.")
    if context is not None and file is not None:
        raise ConfigError("--context goes with questions on the command line; leave it or --file out.")
    if out is not None and not is_table(file):
        raise ConfigError("--out is for tables; give one with --file.")
    use_threads(threads)
    answerer = load_answerer(run, device or "auto", precision=precision)
    reporter = progress(quiet)
    if is_table(file):
        from regard.pipelines.label_tables import answer_table

        write_table(answer_table(answerer, str(file), threshold, reporter), out, json)
        return
    names: list[str] = []
    if file is not None:
        found = read_questions(QuestionSource(path=str(file)), reporter, has_answers=False)
        names, asked = [each.name for each in found], [(each.question, each.context) for each in found]
    elif context is not None:
        asked = [(each, read_text(context)) for each in words or []]
    else:
        asked = [(words[0], words[1])] if words else []
    for row, reply in enumerate(answerer(asked, count=count, threshold=threshold, progress=reporter)):
        name = {"id": names[row]} if names else {}
        if json:
            _print_json(name, reply)
            continue
        for each in (reply.answer, *reply.others):
            print_line("\t".join([*name.values(), f"{each.probability:.4f}", " ".join(each.text.split())]))


def _print_json(name: dict[str, str], reply: Any) -> None:
    from regard.cli.console import print_json

    answers = [vars(each) for each in (reply.answer, *reply.others)]
    print_json({**name, "question": reply.question, "answers": answers, "margin": reply.margin}, indent=None)
