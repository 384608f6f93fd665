"""`regard race`: several models on the same data with the same budget, and a report."""

from typing import TYPE_CHECKING

from regard.cli.console import show
from regard.cli.options import NOTHING, Given, Json, Overwrite, Quiet, Recipe, SettingWords, flags_of, options
from regard.cli.run_options import RUN, run_overrides
from regard.studies.settings import RaceFolder, RaceOptions

if TYPE_CHECKING:
    from regard.studies.race.folder import Race


@options(*flags_of(RaceOptions), *RUN, *flags_of(RaceFolder))
def race(
    recipe: Recipe,
    settings: SettingWords = None,
    given: Given = NOTHING,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Race models on the same data and budget; Ctrl-C saves, the same command resumes.

    They share the tokenizer and the seed too. Examples: regard race race-miniature --models
    transformer-tiny,transformer-small --budget 2m · regard race language-model --text books/ --models
    lstm-lm,gpt-tiny --budget 10m
    """
    from regard.reporting.live import live
    from regard.studies.race.entrants import Lineup
    from regard.studies.race.leaderboard import StateLines, standing_table
    from regard.studies.race.race import race as run_race

    names = [name.strip() for name in (given["models"] or "").split(",") if name.strip()]
    lineup = Lineup(recipe, names, given["vary"], run_overrides(list(settings or []), given))
    with live(quiet, standing_table, StateLines(), right=2) as (reporter, update):
        finished = run_race(
            lineup, given["budget"], progress=reporter, show=update, out=given["out"], overwrite=overwrite
        )
    print_race(finished, json)


def print_race(race: "Race", as_json: bool) -> None:
    """Print the ranking of a race; nothing of one without any result yet."""
    from regard.studies.race.disciplines import ranking_table

    has_results = race.is_finished or race.report.is_file()
    results = race.results if has_results or (race.path / "results.json").is_file() else {}
    kept = ("is_finished", "recipe", "budget", "vary", "set", "members", "waiting", "failed")
    plain = {"race": str(race.path), "report": str(race.report)}
    plain |= {name: results[name] for name in kept if name in results}
    if not as_json and not has_results:
        return
    header, rows = ranking_table(results) if has_results else ((), [])
    failed = [f"{name} failed: {reason}" for name, reason in results.get("failed", {}).items()]
    show(as_json, plain, (header, rows, range(1, len(header))), *failed, f"report: {race.report}")
