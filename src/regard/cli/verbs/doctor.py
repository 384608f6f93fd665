"""`regard doctor`: checks of the data and a trial of the training, before a run."""

import typer

from regard.cli.console import print_json, print_styled, progress
from regard.cli.options import NOTHING, Given, Json, Quiet, Recipe, SettingWords, flags_of, options
from regard.cli.run_options import RUN, run_overrides
from regard.runs.settings import DoctorSettings


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
        for line in report.styled_lines():
            print_styled(*line)
    if report.has_problem:
        raise typer.Exit(1)
