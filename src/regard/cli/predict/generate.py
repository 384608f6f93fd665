"""`regard generate`: text generation with a language model."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.inputs import chunks
from regard.cli.options import (
    CONSTRAINTS,
    LARGEST_SEED,
    SAMPLING,
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
"""Flags with the names of settings under generate."""

LENGTH = "Length and context window"

Prompts = Annotated[
    list[str] | None,
    typer.Argument(metavar="[PROMPT]...", help="Prompts to continue (default: standard input, one per line)."),
]
File = Annotated[Path | None, typer.Option("--file", "-f", help="File of prompts, one per line (.gz too).")]
Temperature = Annotated[
    float | None,
    typer.Option(rich_help_panel=SAMPLING, help="Softmax temperature; below 1 sharper, above 1 flatter, 0 greedy."),
]
MinP = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=SAMPLING,
        help="Sample from tokens with at least this fraction of the top token's probability (min-p).",
    ),
]
NumSamples = Annotated[int | None, typer.Option(rich_help_panel=SAMPLING, help="Samples per prompt.")]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=LARGEST_SEED,
        rich_help_panel=SAMPLING,
        help="Random seed; samples depend on it, the line, the sample and the step only.",
    ),
]
RepetitionPenalty = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=CONSTRAINTS,
        help="Factor on the log probability of tokens in the prompt or output so far (1: no penalty).",
    ),
]
Stop = Annotated[
    list[str] | None,
    typer.Option(rich_help_panel=CONSTRAINTS, help="Stop string, left out of the output; repeatable."),
]
MaxNewTokens = Annotated[
    int | None, typer.Option(rich_help_panel=LENGTH, help="Maximum number of new tokens, EOS included.")
]
MinNewTokens = Annotated[
    int | None, typer.Option(rich_help_panel=LENGTH, help="Minimum number of new tokens, EOS included.")
]
ContextWindow = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=LENGTH,
        help="Context window in tokens, or trained: that of training (default: the model's maximum).",
    ),
]
AddBos = Annotated[
    bool | None,
    typer.Option(
        "--add-bos/--no-add-bos",
        rich_help_panel=LENGTH,
        help="Put BOS before the prompt, as at the start of a text; without it the prompt is mid-text.",
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
    num_samples: NumSamples = None,
    seed: Seed = None,
    repetition_penalty: RepetitionPenalty = None,
    no_repeat_ngram_size: NoRepeatNgram = None,
    stop: Stop = None,
    max_new_tokens: MaxNewTokens = None,
    min_new_tokens: MinNewTokens = None,
    context_window: ContextWindow = None,
    add_bos: AddBos = None,
    device: Device = None,
    precision: Precision = "fp32",
    quantize: Quantize = "none",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Generate text from prompts: one prompt is streamed, the outputs of several are separated by blank lines.

    Defaults are the run's settings under generate.
    """
    flags = dict(locals())
    from regard.cli.console import progress
    from regard.runs.store.folder import read_record
    from regard.tasks.language_model.int8_cost import measure_quantization_cost
    from regard.tasks.language_model.task import TASK
    from regard.tasks.load import load
    from regard.training.device.machine import use_threads

    settings = {name: flags[name] for name in GENERATION} | {
        "stop": stop or None,
        "context_window": _window(context_window),
    }
    _check_inputs(prompts, file)
    use_threads(threads)
    generator = load(run, device or "auto", precision=precision, quantize=quantize, task=TASK.name)
    reporter = progress(quiet)
    if quantize != "none" and not quiet:
        reporter.info(str(measure_quantization_cost(read_record(run), generator, reporter)))
    _generate(generator, chunks(prompts, file), settings, reporter, json)


def _window(word: str | None) -> str | int | None:
    number = parse_integer(word or "")
    return word if number is None else number


def _check_inputs(prompts: list[str] | None, file: Path | None) -> None:
    """Raise for two input sources or an empty file, before a model is loaded."""
    from regard.data.sources.lines import read_bytes
    from regard.errors import ConfigError, DataError

    if prompts and file:
        raise ConfigError("Give either prompts or --file, not both.")
    if file is not None and not read_bytes(file):
        raise DataError(f"{file}: the file is empty; write one prompt per line.")


def _generate(
    generator: Any, given: Iterable[list[str]], settings: dict[str, Any], reporter: Any, json: bool
) -> None:
    """Print the completions of all prompts; stream a prompt that is alone in its chunk."""
    can_stream = not json and generator.options(**settings).num_samples == 1
    line = 1
    for chunk in given:
        if can_stream and len(chunk) == 1:
            _print_stream(generator.stream(chunk[0], first_row=line, **settings), line > 1)
        else:
            for number, completion in enumerate(
                generator(chunk, first_row=line, progress=reporter, **settings), line
            ):
                _print_completion(completion, number > 1, json)
        sys.stdout.flush()
        line += len(chunk)


def _print_stream(parts: Iterable[str], has_separator: bool) -> None:
    """Print the parts of a text as they are generated."""
    from regard.cli.console import write

    if has_separator:
        write("\n")
    for part in parts:
        write(part)
        sys.stdout.flush()
    write("\n")


def _print_completion(completion: Any, has_separator: bool, json: bool) -> None:
    from regard.cli.console import print_json

    if json:
        print_json(_plain(completion) | {"samples": [_plain(each) for each in completion.samples]}, indent=None)
        return
    for number, each in enumerate(completion.samples or [completion]):
        _print_stream([each.text], has_separator or number > 0)


def _plain(completion: Any) -> dict[str, Any]:
    names = ("prompt", "text", "finish_reason", "log_probability", "tokens", "ids", "log_probabilities")
    return {name: getattr(completion, name) for name in names}
