"""`regard tune`: trials of the most doubtful values of a plan, and a recipe."""

from regard.cli.console import show
from regard.cli.options import NOTHING, Given, Json, Overwrite, Quiet, Recipe, SettingWords, flags_of, options
from regard.cli.run_options import RUN, run_overrides
from regard.studies.settings import TuneOptions


@options(*flags_of(TuneOptions, shows_defaults=True), *RUN)
def tune(
    recipe: Recipe,
    settings: SettingWords = None,
    given: Given = NOTHING,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Search better values for the most doubtful settings of a plan, and write a recipe.

    Ctrl-C saves, and the same command resumes. Example: regard tune classify --data reviews.csv --minutes 30
    """
    from regard.reporting.live import live
    from regard.studies.race.leaderboard import StateLines, standing_table
    from regard.studies.tune.tune import tune as run_tuning

    chosen, overrides = given.settings(TuneOptions), run_overrides(list(settings or []), given)
    with live(quiet, standing_table, StateLines(), right=2) as (reporter, update):
        done = run_tuning(recipe, overrides, **vars(chosen), overwrite=overwrite, progress=reporter, show=update)
    results = done.results
    shown = lambda score: "" if score is None else f"{score:.4g}"
    rows = [
        (str(each["round"]), each["name"], f"{each['steps']:,}", shown(each["score"])) for each in results["trials"]
    ]
    header = ("round", "trial", "steps", f"valid {results['metric']}")
    plain = {"tune": str(done.path), "recipe": str(done.recipe)} | results
    show(json, plain, (header, rows, (0, 2, 3)), results["verdict"], f"recipe: {done.recipe}")
