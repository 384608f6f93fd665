"""`regard verify-resume`: a test of exact resuming on the user's recipe and machine."""

import typer

from regard.cli.console import progress, show
from regard.cli.options import NOTHING, Given, Json, Quiet, Recipe, SettingWords, flags_of, options
from regard.cli.run_options import RUN, run_overrides
from regard.runs.settings import VerifySettings


@options(*RUN, *flags_of(VerifySettings, shows_defaults=True))
def verify_resume(
    recipe: Recipe, settings: SettingWords = None, given: Given = NOTHING, quiet: Quiet = False, json: Json = False
) -> None:
    """Train with and without an interruption and compare the results.

    On a CPU any difference is exit code 1.
    """
    from regard.runs.planning.recipes import find_recipe
    from regard.runs.verify import verify_resume as verify

    overrides = run_overrides(list(settings or []), given)
    check = verify(find_recipe(recipe), overrides, given.settings(VerifySettings).steps, progress(quiet))
    differences = (("weights", check.weights), ("optimizer", check.optimizer), ("losses", check.losses))
    rows = [(name, f"{each:.3g}") for name, each in differences]
    verdict = "bit-identical" if check.is_exact else "not bit-identical"
    last = f"{check.steps} steps, interrupted after {check.interrupted_at}, on {check.device}: {verdict}."
    show(json, vars(check) | {"is_exact": check.is_exact}, (("state", "largest difference"), rows, [1]), last)
    if check.device == "cpu" and not check.is_exact:
        raise typer.Exit(1)
