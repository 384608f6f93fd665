"""`regard bleu`: BLEU, and the counts it is computed from."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import JSON, Given, options
from regard.metrics.settings import BleuSettings


@options(JSON, BleuSettings)
def bleu(
    given: Given,
    files: Annotated[
        list[str], typer.Argument(metavar="HYP REF...", help="Files of hypotheses and references, one per line.")
    ],
) -> None:
    """Score hypotheses against references: sacrebleu's corpus BLEU, BLEU-1 to BLEU-4."""
    from regard.data.sources.lines import read_lines
    from regard.data.sources.pairs import check_same_length
    from regard.errors import ConfigError
    from regard.metrics.bleu_report import score_bleu

    chosen = given.settings(BleuSettings)
    if len(files) < 2:
        raise ConfigError(f"{files[0]}: there are no references; give a file of them too.")
    sides = [[side] if chosen.inline else read_lines(Path(side)) for side in files]
    for name, side in zip(files[1:], sides[1:], strict=True):
        check_same_length(Path(files[0]), Path(name), sides[0], side)
    report = score_bleu(sides[0], list(zip(*sides[1:], strict=True)), chosen.tokenize, chosen.lowercase)
    given.show(report.plain(with_matches=chosen.explain), *report.shown(chosen.explain))
