"""`regard doctor`: checks of the data and a trial of the training, before a run."""

from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import NOTHING, Given, Json, Quiet, Recipe, SettingWords, options
from regard.cli.run_options import RUN, run_overrides

if TYPE_CHECKING:
    from regard.tasks.findings import Report

STYLES = {"ok": "green", "note": "cyan", "warning": "yellow", "problem": "red"}


@options(*RUN)
def doctor(
    recipe: Recipe,
    settings: SettingWords = None,
    given: Given = NOTHING,
    lr_finder: Annotated[bool, typer.Option("--lr-finder", help="Also run a learning-rate range test.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Check the data only; skip the trial updates.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check the data and try out the training before a run; exit code 1 if there is a problem.

    Examples: regard doctor translate --source a.de --target a.en · regard doctor translate-miniature --lr-finder
    · regard doctor language-model --text books/
    """
    from regard.cli.console import print_json, progress
    from regard.studies.doctor.examine import doctor as examine

    overrides = run_overrides(list(settings or []), given)
    report = examine(recipe, overrides, lr_finder=lr_finder, quick=quick, progress=progress(quiet))
    if json:
        print_json({"severity": report.severity, "findings": report.findings})
    else:
        print_report(report)
    if report.has_problem:
        raise typer.Exit(1)


def print_report(report: "Report") -> None:
    """Print the findings by kind, each with its examples and its remedy, and a summary."""
    import sys

    from rich.console import Console
    from rich.text import Text

    from regard.escaping import printable

    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    kind = None
    for finding in report.findings:
        if finding.check != kind:
            console.print(Text(finding.check, style="bold"))
            kind = finding.check
        console.print(
            Text(f"  {finding.severity:8}", style=STYLES[finding.severity]) + Text(printable(finding.sentence))
        )
        for example in finding.examples:
            console.print(Text(f"            {printable(str(example))}", style="dim"))
        if finding.way_out:
            console.print(Text(f"          → {printable(finding.way_out)}"))
    counts = [(len(report.of(severity)), severity) for severity in ("problem", "warning", "note")]
    parts = [f"{count} {severity}{'s' if count > 1 else ''}" for count, severity in counts if count]
    console.print(Text(f"{', '.join(parts)}." if parts else "No problems.", style=STYLES[report.severity]))
