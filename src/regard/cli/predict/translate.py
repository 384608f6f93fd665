"""`regard translate`: lines in, lines out."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.inputs import chunks
from regard.cli.options import (
    CONSTRAINTS,
    DRAWING,
    LARGEST_SEED,
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

DECODING = (
    *("method", "beam_size", "temperature", "top_k", "top_p", "seed", "repetition_penalty", "no_repeat_ngram_size"),
    *("min_length", "max_length", "length_penalty", "length_penalty_alpha", "coverage_penalty"),
    *("iterations", "length_candidates"),
)
"""The flags that are called as the settings under decode."""

LENGTH = "Length and coverage"
FILLING = "For mask-predict models"

Texts = Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="Text; unset: standard input.")]
File = Annotated[Path | None, typer.Option("--file", "-f", help="Translate the lines of this file (.gz too).")]
NBest = Annotated[
    int, typer.Option(min=1, help="Candidates to list with --json: at most the beams; as many are drawn.")
]
Alternatives = Annotated[
    int | None, typer.Option(min=1, help="List so many tokens that could follow --prefix, and how each goes on.")
]
Method = Annotated[
    str | None,
    typer.Option(rich_help_panel=DRAWING, help="beam: beam search; sample: ancestral sampling."),
]
Temperature = Annotated[
    float | None, typer.Option(rich_help_panel=DRAWING, help="Below 1 more careful, above 1 more daring.")
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0, max=LARGEST_SEED, rich_help_panel=DRAWING, help="Draws follow from it, the line and the step."
    ),
]
Prefix = Annotated[str | None, typer.Option(rich_help_panel=CONSTRAINTS, help="What every translation begins with.")]
RepetitionPenalty = Annotated[
    float | None,
    typer.Option(rich_help_panel=CONSTRAINTS, help="Above 1: tokens said before become less likely."),
]
MinLength = Annotated[int | None, typer.Option(rich_help_panel=LENGTH, help="Fewest tokens, the end token included.")]
MaxLength = Annotated[int | None, typer.Option(rich_help_panel=LENGTH, help="Most tokens, the end token included.")]
LengthPenalty = Annotated[
    str | None,
    typer.Option(rich_help_panel=LENGTH, help="How lengths are made comparable: none, average or gnmt."),
]
LengthAlpha = Annotated[
    float | None, typer.Option(rich_help_panel=LENGTH, help="The exponent of the length penalty.")
]
CoveragePenalty = Annotated[
    float | None, typer.Option(rich_help_panel=LENGTH, help="Weight of source words that got little attention.")
]
LengthCandidates = Annotated[
    int | None, typer.Option(min=1, rich_help_panel=FILLING, help="Lengths of the output that are tried.")
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
    length_penalty_alpha: LengthAlpha = None,
    coverage_penalty: CoveragePenalty = None,
    iterations: Iterations = None,
    length_candidates: LengthCandidates = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Translate text: one line out for each line in, in order, blank lines kept.

    What is not set here is as the run's recipe has it under decode.
    """
    flags = dict(locals())
    from regard.cli.console import progress
    from regard.tasks.load import load_translator
    from regard.training.device.machine import use_threads

    _check_words(flags)
    use_threads(threads)
    translator = load_translator(run, device or "auto", ensemble=ensemble or (), precision=precision)
    decoding = _decoding(flags)
    _check_candidates(n_best, json, translator.decoding(**decoding))
    if alternatives is not None and texts:
        _print_alternatives(translator.alternatives(texts[0], prefix or "", alternatives, **decoding), json)
        return
    reporter = progress(quiet)
    line = 1
    for chunk in chunks(texts, file):
        for answer in translator(chunk, prefix=prefix, first_row=line, progress=reporter, **decoding):
            _print_answer(answer, n_best, json)
        sys.stdout.flush()
        line += len(chunk)


def _decoding(flags: dict[str, Any]) -> dict[str, Any]:
    """Return what was asked for as settings."""
    found = {name: flags[name] for name in DECODING}
    return found | ({"num_samples": flags["n_best"]} if flags["method"] == "sample" else {})


def _check_words(flags: dict[str, Any]) -> None:
    """Refuse words that contradict each other, before a model is loaded."""
    from regard.errors import ConfigError

    if flags["texts"] and flags["file"]:
        raise ConfigError("Give either texts or --file, not both.")
    if flags["alternatives"] is not None and len(flags["texts"] or []) != 1:
        raise ConfigError("--alternatives looks at one text; give it behind the run.")
    if flags["alternatives"] is not None and flags["n_best"] > 1:
        raise ConfigError(f"--n-best {flags['n_best']} has no meaning with --alternatives; leave one of them out.")


def _check_candidates(wanted: int, json: bool, settings: Any) -> None:
    from regard.errors import ConfigError

    if wanted > settings.hypotheses:
        has_lengths = hasattr(settings, "length_candidates")
        names, flag = ("length candidates", "--length-candidates") if has_lengths else ("beams", "--beam-size")
        raise ConfigError(f"--n-best {wanted} is more than the {settings.hypotheses} {names}; raise {flag}.")
    if wanted > 1 and not json:
        raise ConfigError(f"--n-best {wanted} lists candidates with --json only; add it, or leave --n-best out.")


def _print_answer(answer: Any, n_best: int, json: bool) -> None:
    from regard.cli.console import print_json, print_line

    if not json:
        print_line(" ".join(answer.text.splitlines()))  # a line in, a line out
        return
    found = {name: getattr(answer, name) for name in ("source", "text", "score", "tokens")}
    print_json(found | {"candidates": answer.candidates[:n_best]}, indent=None)


def _print_alternatives(found: list[Any], json: bool) -> None:
    from regard.cli.console import print_json, print_table

    if json:
        print_json(found)
    else:
        rows = [(f"{each.probability:.4f}", each.token, each.text) for each in found]
        print_table(("probability", "token", "translation"), rows, right=[0])
