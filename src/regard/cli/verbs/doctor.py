"""`regard doctor`: checks of the data and a trial of the training, before a run."""

import typer

from regard.cli.console import print_json, print_styled
from regard.cli.options import JSON, QUIET, Given, Recipe, SettingWords, options
from regard.cli.run_options import RUN, run_overrides
from regard.runs.settings import DoctorSettings


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
        for line in report.styled_lines():
            print_styled(*line)
    if report.has_problem:
        raise typer.Exit(1)
