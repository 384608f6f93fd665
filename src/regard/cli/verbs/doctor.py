"""`regard doctor`: checks of the data and a trial of the training, before a run."""

import typer

from regard.cli.console import print_json, print_styled
from regard.cli.options import JSON, QUIET, Given, Recipe, SettingWords, options
from regard.cli.run_options import RUN, run_overrides
from regard.runs.settings import DoctorSettings
from regard.tasks.findings import Report

STYLES = {"ok": "green", "note": "cyan", "warning": "yellow", "problem": "red"}


@options(QUIET, JSON, *RUN, DoctorSettings)
def doctor(given: Given, recipe: Recipe, settings: SettingWords = None) -> None:
    """Check the data and try out the training before a run.

    The exit code is 1 if there is a problem. Examples: regard doctor translate --source a.de --target a.en · regard
    doctor translate-miniature --lr-finder · regard doctor language-model --text books/
    """
    from regard.studies.doctor.examine import doctor as examine

    trials = given.values_of(DoctorSettings.model_fields)
    report = examine(recipe, run_overrides(settings, given), **trials, progress=given.progress)
    if given["json"]:
        print_json({"severity": report.severity, "findings": report.findings})
    else:
        print_report(report)
    if report.has_problem:
        raise typer.Exit(1)


def print_report(report: Report) -> None:
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
    print_styled((report.summary, STYLES[report.severity]))
