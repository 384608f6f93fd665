"""`regard generate`: the beginning of a text in, more of it out."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.inputs import chunks
from regard.cli.options import (
    CONSTRAINTS,
    DRAWING,
    LARGEST_SEED,
    Device,
    Json,
    NoRepeatNgram,
    Precision,
    Quantize,
    Quiet,
    Run,
    Threads,
    TopK,
    TopP,
)
from regard.config.parsing import parse_integer

GENERATION = (
    *("max_new_tokens", "temperature", "top_k", "top_p", "min_p", "num_samples", "seed", "repetition_penalty"),
    *("no_repeat_ngram_size", "min_new_tokens", "add_bos"),
)
"""The flags that are called as the settings under generate."""

LENGTH = "Length and window"

Prompts = Annotated[
    list[str] | None,
    typer.Argument(metavar="[PROMPT]...", help="Text to continue; unset: standard input, one a line."),
]
File = Annotated[Path | None, typer.Option("--file", "-f", help="Continue the lines of this file (.gz too).")]
Temperature = Annotated[
    float | None,
    typer.Option(rich_help_panel=DRAWING, help="Below 1 more careful, above 1 more daring, 0 greedy."),
]
MinP = Annotated[
    float | None,
    typer.Option(rich_help_panel=DRAWING, help="Draw among tokens this share as probable as the best one."),
]
Samples = Annotated[int | None, typer.Option(rich_help_panel=DRAWING, help="Continuations of each prompt.")]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0, max=LARGEST_SEED, rich_help_panel=DRAWING, help="Draws follow from it, the line, sample and step."
    ),
]
RepetitionPenalty = Annotated[
    float | None,
    typer.Option(rich_help_panel=CONSTRAINTS, help="Above 1: tokens read or said before become less likely."),
]
Stop = Annotated[
    list[str] | None,
    typer.Option(rich_help_panel=CONSTRAINTS, help="Text before which to stop; may be repeated."),
]
Tokens = Annotated[int | None, typer.Option(rich_help_panel=LENGTH, help="Most new tokens, the end token included.")]
MinTokens = Annotated[
    int | None, typer.Option(rich_help_panel=LENGTH, help="Fewest new tokens, the end token included.")
]
Window = Annotated[
    str | None,
    typer.Option(rich_help_panel=LENGTH, help="Tokens looked back on, or trained: those of training."),
]
BeginsText = Annotated[
    bool | None,
    typer.Option(
        "--add-bos/--no-add-bos",
        rich_help_panel=LENGTH,
        help="Whether a prompt begins a text, or is taken from one.",
    ),
]


def generate(
    run: Run,
    prompts: Prompts = None,
    file: File = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    min_p: MinP = None,
    num_samples: Samples = None,
    seed: Seed = None,
    repetition_penalty: RepetitionPenalty = None,
    no_repeat_ngram_size: NoRepeatNgram = None,
    stop: Stop = None,
    max_new_tokens: Tokens = None,
    min_new_tokens: MinTokens = None,
    context_window: Window = None,
    add_bos: BeginsText = None,
    device: Device = None,
    precision: Precision = "fp32",
    quantize: Quantize = "none",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Continue text: what follows one prompt is shown as it is said, several have a blank line between them.

    What is not set here is as the run's recipe has it under generate.
    """
    flags = dict(locals())
    from regard.cli.console import progress
    from regard.tasks.language_model.int8_cost import measure_weights_cost
    from regard.tasks.load import load_generator
    from regard.training.device.machine import use_threads

    settings = {name: flags[name] for name in GENERATION} | {
        "stop": stop or None,
        "context_window": _window(context_window),
    }
    _check_words(prompts, file)
    use_threads(threads)
    generator = load_generator(run, device or "auto", precision=precision, quantize=quantize)
    reporter = progress(quiet)
    if quantize != "none" and not quiet:
        reporter.say(str(measure_weights_cost(run, generator, reporter)))
    _go_on(generator, chunks(prompts, file), settings, reporter, json)


def _window(word: str | None) -> str | int | None:
    number = parse_integer(word or "")
    return word if number is None else number


def _check_words(prompts: list[str] | None, file: Path | None) -> None:
    """Refuse words that contradict each other, and files without lines, before a model is loaded."""
    from regard.data.sources.lines import read_bytes
    from regard.errors import ConfigError, DataError

    if prompts and file:
        raise ConfigError("Give either prompts or --file, not both.")
    if file is not None and not read_bytes(file):
        raise DataError(f"{file}: the file is empty; write one prompt a line.")


def _go_on(generator: Any, given: Iterable[list[str]], settings: dict[str, Any], reporter: Any, json: bool) -> None:
    """Print what follows each prompt, as it is said where it is the only one of its chunk."""
    streams = not json and generator.generation(**settings).num_samples == 1
    line = 1
    for chunk in given:
        if streams and len(chunk) == 1:
            _print_pieces(generator.stream(chunk[0], first_row=line, **settings), line > 1)
        else:
            for number, answer in enumerate(generator(chunk, first_row=line, progress=reporter, **settings), line):
                _print_answer(answer, number > 1, json)
        sys.stdout.flush()
        line += len(chunk)


def _print_pieces(pieces: Any, is_further: bool) -> None:
    """Print a text while it is said."""
    from regard.cli.console import write

    if is_further:
        write("\n")
    for piece in pieces:
        write(piece)
        sys.stdout.flush()
    write("\n")


def _print_answer(answer: Any, is_further: bool, json: bool) -> None:
    from regard.cli.console import print_json

    if json:
        print_json(_plain(answer) | {"samples": [_plain(each) for each in answer.samples]}, indent=None)
        return
    for number, each in enumerate(answer.samples or [answer]):
        _print_pieces([each.text], is_further or number > 0)


def _plain(answer: Any) -> dict[str, Any]:
    names = ("prompt", "text", "finish_reason", "log_probability", "tokens", "ids", "log_probabilities")
    return {name: getattr(answer, name) for name in names}
