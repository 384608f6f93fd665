"""`regard tune`: trials of the most doubtful values of a plan, and a recipe."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import NOTHING, Given, Json, Overwrite, Quiet, Recipe, SettingWords, flags_of, options
from regard.cli.run_options import RUN, run_overrides
from regard.studies.settings import TuneOptions


@options(*flags_of(TuneOptions, shows_defaults=True), *RUN)
def tune(
    recipe: Recipe,
    settings: SettingWords = None,
    given: Given = NOTHING,
    out: Annotated[Path | None, typer.Option(help="Folder (default: tuned/RECIPE).")] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Search better values for the most doubtful settings of a plan, and write a recipe.

    Ctrl-C saves, and the same command resumes. Example: regard tune classify --data reviews.csv --minutes 30
    """
    from functools import partial

    from regard.cli.console import print_json, print_line, print_table, progress
    from regard.cli.verbs.race import StateLines, live_table
    from regard.reporting.bars import errors
    from regard.studies.tune.tune import tune as run_tuning

    run = partial(run_tuning, recipe, minutes=given.settings(TuneOptions).minutes, out=out, overwrite=overwrite)
    overrides = run_overrides(list(settings or []), given)
    if quiet or not errors().is_terminal:
        reporter = progress(quiet)
        done = run(overrides, progress=reporter, show=StateLines(reporter))
    else:
        with live_table() as table:
            done = run(overrides, progress=table, show=table.show)
    results = done.results
    if json:
        print_json({"tune": str(done.path), "recipe": str(done.recipe)} | results)
        return
    rows = [
        (
            f"{each['round']}",
            each["name"],
            f"{each['steps']:,}",
            "" if each["score"] is None else f"{each['score']:.4g}",
        )
        for each in results["trials"]
    ]
    print_table(("round", "trial", "steps", f"valid {results['metric']}"), rows, right=(0, 2, 3))
    print_line(results["verdict"])
    print_line(f"recipe: {done.recipe}")
