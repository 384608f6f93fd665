"""`regard translate`: translation, line by line."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.inputs import chunks
from regard.cli.options import (
    CONSTRAINTS,
    LARGEST_SEED,
    SAMPLING,
    BeamSize,
    Device,
    Ensemble,
    Iterations,
    Json,
    NoRepeatNgram,
    Precision,
    Quiet,
    Run,
    Threads,
    TopK,
    TopP,
)

if TYPE_CHECKING:
    from regard.decoding.settings import AnyTranslationDecoding

DECODING = (
    *("method", "beam_size", "temperature", "top_k", "top_p", "seed", "repetition_penalty", "no_repeat_ngram_size"),
    *("min_length", "max_length", "length_penalty", "length_penalty_alpha", "coverage_penalty"),
    *("iterations", "length_candidates"),
)
"""Flags with the names of settings under decode."""

LENGTH = "Length and coverage"
MASK_PREDICT = "Mask-predict models"

Texts = Annotated[
    list[str] | None, typer.Argument(metavar="[TEXT]...", help="Texts (default: standard input, one per line).")
]
File = Annotated[Path | None, typer.Option("--file", "-f", help="File of source texts, one per line (.gz too).")]
NBest = Annotated[
    int,
    typer.Option(min=1, help="Candidates per source, with --json: at most the beam size, or the number of samples."),
]
Alternatives = Annotated[
    int | None, typer.Option(min=1, help="Next tokens to list after --prefix, each with its best translation.")
]
Method = Annotated[
    str | None,
    typer.Option(rich_help_panel=SAMPLING, help="beam: beam search; sample: ancestral sampling."),
]
Temperature = Annotated[
    float | None,
    typer.Option(rich_help_panel=SAMPLING, help="Softmax temperature; below 1 sharper, above 1 flatter."),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=LARGEST_SEED,
        rich_help_panel=SAMPLING,
        help="Random seed; samples depend on it, the line, the sample and the step only.",
    ),
]
Prefix = Annotated[
    str | None, typer.Option(rich_help_panel=CONSTRAINTS, help="Target prefix forced on every translation.")
]
RepetitionPenalty = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=CONSTRAINTS,
        help="Factor on the log probability of tokens in the output so far (1: no penalty).",
    ),
]
MinLength = Annotated[
    int | None, typer.Option(rich_help_panel=LENGTH, help="Minimum output length in tokens, EOS included.")
]
MaxLength = Annotated[
    int | None, typer.Option(rich_help_panel=LENGTH, help="Maximum output length in tokens, EOS included.")
]
LengthPenalty = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=LENGTH,
        help="Divisor of the log probability: none: 1; average: length^alpha; gnmt: ((5 + length) / 6)^alpha.",
    ),
]
LengthPenaltyAlpha = Annotated[
    float | None, typer.Option(rich_help_panel=LENGTH, help="Exponent alpha of the length penalty.")
]
CoveragePenalty = Annotated[
    float | None, typer.Option(rich_help_panel=LENGTH, help="Weight of the GNMT coverage penalty.")
]
LengthCandidates = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=MASK_PREDICT, help="Number of output lengths to decode in parallel."),
]


def translate(
    run: Run,
    texts: Texts = None,
    file: File = None,
    beam_size: BeamSize = None,
    n_best: NBest = 1,
    ensemble: Ensemble = None,
    alternatives: Alternatives = None,
    method: Method = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    prefix: Prefix = None,
    repetition_penalty: RepetitionPenalty = None,
    no_repeat_ngram_size: NoRepeatNgram = None,
    min_length: MinLength = None,
    max_length: MaxLength = None,
    length_penalty: LengthPenalty = None,
    length_penalty_alpha: LengthPenaltyAlpha = None,
    coverage_penalty: CoveragePenalty = None,
    iterations: Iterations = None,
    length_candidates: LengthCandidates = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Translate text: one output line per input line, in order, blank lines kept.

    Defaults are the run's settings under decode.
    """
    flags = dict(locals())
    from regard.cli.console import progress
    from regard.tasks.load import load
    from regard.tasks.translate.task import TASK
    from regard.training.device.machine import use_threads

    _check_inputs(flags)
    use_threads(threads)
    translator = load(run, device or "auto", ensemble=ensemble or (), precision=precision, task=TASK.name)
    decoding = _decoding(flags)
    _check_candidates(n_best, json, translator.options(**decoding))
    if alternatives is not None and texts:
        _print_alternatives(translator.alternatives(texts[0], prefix or "", alternatives, **decoding), json)
        return
    reporter = progress(quiet)
    line = 1
    for chunk in chunks(texts, file):
        for translation in translator(chunk, prefix=prefix, first_row=line, progress=reporter, **decoding):
            _print_translation(translation, n_best, json)
        sys.stdout.flush()
        line += len(chunk)


def _decoding(flags: dict[str, Any]) -> dict[str, Any]:
    """Return the decoding flags as settings."""
    settings = {name: flags[name] for name in DECODING}
    return settings | ({"num_samples": flags["n_best"]} if flags["method"] == "sample" else {})


def _check_inputs(flags: dict[str, Any]) -> None:
    """Raise for conflicting arguments, before a model is loaded."""
    from regard.errors import ConfigError

    if flags["texts"] and flags["file"]:
        raise ConfigError("Give either texts or --file, not both.")
    if flags["alternatives"] is not None and len(flags["texts"] or []) != 1:
        raise ConfigError("--alternatives is for one text; give it after RUN.")
    if flags["alternatives"] is not None and flags["n_best"] > 1:
        raise ConfigError(f"--n-best {flags['n_best']} has no meaning with --alternatives; leave one of them out.")


def _check_candidates(n_best: int, json: bool, decoding: "AnyTranslationDecoding") -> None:
    from regard.errors import ConfigError

    if n_best > decoding.hypotheses:
        has_lengths = hasattr(decoding, "length_candidates")
        names, flag = ("length candidates", "--length-candidates") if has_lengths else ("beams", "--beam-size")
        raise ConfigError(f"--n-best {n_best} is more than the {decoding.hypotheses} {names}; raise {flag}.")
    if n_best > 1 and not json:
        raise ConfigError(f"--n-best {n_best} needs --json; add it, or leave out --n-best.")


def _print_translation(translation: Any, n_best: int, json: bool) -> None:
    from regard.cli.console import print_json, print_line

    if not json:
        print_line(" ".join(translation.text.splitlines()))  # one output line per input line
        return
    plain = {name: getattr(translation, name) for name in ("source", "text", "score", "tokens")}
    print_json(plain | {"candidates": translation.candidates[:n_best]}, indent=None)


def _print_alternatives(alternatives: list[Any], json: bool) -> None:
    from regard.cli.console import print_json, print_table

    if json:
        print_json(alternatives)
    else:
        rows = [(f"{each.probability:.4f}", each.token, each.text) for each in alternatives]
        print_table(("probability", "token", "translation"), rows, right=[0])
