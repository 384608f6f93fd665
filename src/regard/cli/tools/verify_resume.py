"""`regard verify-resume`: a test of exact resuming on the user's recipe and machine."""

from typing import Annotated

import typer

from regard.cli.options import NOTHING, Given, Json, Quiet, Recipe, SettingWords, options
from regard.cli.run_options import RUN, run_overrides


@options(*RUN)
def verify_resume(
    recipe: Recipe,
    settings: SettingWords = None,
    given: Given = NOTHING,
    steps: Annotated[int, typer.Option(min=2, help="Training steps, with an interruption halfway.")] = 20,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train with and without an interruption and compare the results; on a CPU any difference is exit code 1."""
    from regard.cli.console import print_json, print_line, print_table, progress
    from regard.runs.planning.recipes import find_recipe
    from regard.runs.verify import verify_resume as verify

    overrides = run_overrides(list(settings or []), given)
    check = verify(find_recipe(recipe), overrides, steps, progress(quiet))
    if json:
        print_json(vars(check) | {"is_exact": check.is_exact})
    else:
        differences = (("weights", check.weights), ("optimizer", check.optimizer), ("losses", check.losses))
        print_table(("state", "largest difference"), [(name, f"{each:.3g}") for name, each in differences], right=[1])
        verdict = "bit-identical" if check.is_exact else "not bit-identical"
        print_line(f"{check.steps} steps, interrupted after {check.interrupted_at}, on {check.device}: {verdict}.")
    if check.device == "cpu" and not check.is_exact:
        raise typer.Exit(1)
