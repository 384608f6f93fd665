"""`regard doctor`: checks of the data and a trial of the training, before a run."""

from typing import TYPE_CHECKING

import typer

from regard.cli.console import print_json, print_styled, progress
from regard.cli.options import NOTHING, Given, Json, Quiet, Recipe, SettingWords, flags_of, options
from regard.cli.run_options import RUN, run_overrides
from regard.runs.settings import DoctorSettings

if TYPE_CHECKING:
    from regard.tasks.findings import Report

STYLES = {"ok": "green", "note": "cyan", "warning": "yellow", "problem": "red"}


@options(*RUN, *flags_of(DoctorSettings, shows_defaults=True))
def doctor(
    recipe: Recipe, settings: SettingWords = None, given: Given = NOTHING, quiet: Quiet = False, json: Json = False
) -> None:
    """Check the data and try out the training before a run.

    The exit code is 1 if there is a problem. Examples: regard doctor translate --source a.de --target a.en · regard
    doctor translate-miniature --lr-finder · regard doctor language-model --text books/
    """
    from regard.studies.doctor.examine import doctor as examine

    overrides, chosen = run_overrides(list(settings or []), given), given.settings(DoctorSettings)
    report = examine(recipe, overrides, lr_finder=chosen.lr_finder, quick=chosen.quick, progress=progress(quiet))
    if json:
        print_json({"severity": report.severity, "findings": report.findings})
    else:
        print_report(report)
    if report.has_problem:
        raise typer.Exit(1)


def print_report(report: "Report") -> None:
    """Print the findings by kind, each with its examples and its remedy, and a summary."""
    kind = None
    for each in report.findings:
        if each.check != kind:
            print_styled((each.check, "bold"))
            kind = each.check
        print_styled((f"  {each.severity:8}", STYLES[each.severity]), (each.sentence, ""))
        for example in each.examples:
            print_styled((f"            {example}", "dim"))
        if each.way_out:
            print_styled((f"          → {each.way_out}", ""))
    counts = [(len(report.of(severity)), severity) for severity in ("problem", "warning", "note")]
    parts = [f"{count} {severity}{'s' if count > 1 else ''}" for count, severity in counts if count]
    print_styled((f"{', '.join(parts)}." if parts else "No problems.", STYLES[report.severity]))
