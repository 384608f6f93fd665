"""`regard race`, `tune` and `transfer`: several trainings, a table of them that is kept up to date, and a report."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from regard.cli.options import JSON, OVERWRITE, QUIET, Given, Recipe, SettingWords, options
from regard.cli.run_options import COLUMNS, MACHINE, RUN, label_columns, machine_overrides, run_overrides
from regard.config.overrides import parse_overrides, split_list
from regard.errors import ConfigError
from regard.studies.settings import RaceFolder, RaceOptions, TransferFolder, TransferOptions, TuneOptions

S = TypeVar("S")


def _watched(given: Given, run: Callable[..., S], *shown: Any) -> S:
    """Return a study that was run in its folder, with its table in a terminal, or lines in a pipe."""
    from regard.reporting.live import live

    with live(bool(given["quiet"]), *shown) as (reporter, update):
        return run(**given.values_of(("out", "overwrite")), progress=reporter, show=update)


@options(OVERWRITE, QUIET, JSON, RaceOptions, *RUN, RaceFolder)
def race(given: Given, recipe: Recipe, settings: SettingWords = None) -> None:
    """Race models on the same data and budget; Ctrl-C saves, the same command resumes.

    They share the tokenizer and the seed too. Examples: regard race race-miniature --models
    transformer-tiny,transformer-small --budget 2m · regard race language-model --text books/ --models
    lstm-lm,gpt-tiny --budget 10m
    """
    from regard.studies.race.entrants import Lineup
    from regard.studies.race.leaderboard import StateLines, standing_table
    from regard.studies.race.race import race as run_race

    lineup = Lineup(recipe, split_list(given["models"]), given["vary"], run_overrides(settings, given))
    trained = partial(run_race, lineup, given["budget"])
    print_race(_watched(given, trained, standing_table, StateLines(), 2), given)


@options(OVERWRITE, QUIET, JSON, TuneOptions, *RUN)
def tune(given: Given, recipe: Recipe, settings: SettingWords = None) -> None:
    """Search better values for the most doubtful settings of a plan, and write a recipe.

    Ctrl-C saves, and the same command resumes. Example: regard tune classify --data reviews.csv --minutes 30
    """
    from regard.studies.race.leaderboard import StateLines, standing_table
    from regard.studies.tune.tune import tune as run_tuning

    minutes = given.settings(TuneOptions).minutes
    search = partial(run_tuning, recipe, run_overrides(settings, given), minutes=minutes)
    done = _watched(given, search, standing_table, StateLines(), 2)
    header, rows = done.table
    plain = {"tune": str(done.path), "recipe": str(done.recipe)} | done.results
    given.show(plain, (header, rows, (0, 2, 3)), done.results["verdict"], f"recipe: {done.recipe}")


@options(OVERWRITE, QUIET, JSON, TransferOptions, *COLUMNS[2:], TransferFolder, *MACHINE)
def transfer(given: Given, settings: SettingWords = None) -> None:
    """Compare pretrained models on the same labeled texts; Ctrl-C saves.

    The same command resumes. Example: regard transfer --data reviews.csv --methods scratch,bert-tuned --bert
    runs/bert --sizes 100,all
    """
    from regard.studies.transfer.report import ResultLines, accuracy_table
    from regard.studies.transfer.transfer import TransferStudy
    from regard.studies.transfer.transfer import transfer as run_transfer

    chosen = given.settings(TransferOptions)
    columns = label_columns(given)
    if columns and chosen.data is None:
        raise ConfigError("--text-column and --label-column are for --data; leave them out.")
    if chosen.test_data and chosen.data is None:
        raise ConfigError("--test-data belongs to --data; give that too.")
    data, test = ({"path": path, **columns} if path else None for path in (chosen.data, chosen.test_data))
    pretrained = {name: given[name] for name in ("vectors", "elmo", "bert")}
    overrides = parse_overrides(settings or []) | machine_overrides(given)
    methods = TransferStudy.methods if chosen.methods is None else split_list(chosen.methods)
    sizes = None if chosen.sizes is None else split_list(chosen.sizes)
    study = TransferStudy(data, test, methods, sizes, chosen.seeds, pretrained, overrides)
    print_transfer(_watched(given, partial(run_transfer, study), accuracy_table, ResultLines()), given)


def print_race(race: Any, given: Given) -> None:
    """Print the ranking of a race; nothing of one without any result yet."""
    from regard.studies.race.disciplines import ranking_table

    has_results = race.is_finished or race.report.is_file()
    results = race.results if has_results or (race.path / "results.json").is_file() else {}
    kept = ("is_finished", "recipe", "budget", "vary", "set", "members", "waiting", "failed")
    plain = {"race": str(race.path), "report": str(race.report)}
    plain |= {name: results[name] for name in kept if name in results}
    failed = [f"{name} failed: {reason}" for name, reason in results.get("failed", {}).items()]
    if given["json"] or has_results:
        header, rows = ranking_table(results) if has_results else ((), [])
        given.show(plain, (header, rows, range(1, len(header))), *failed, f"report: {race.report}")


def print_transfer(study: Any, given: Given) -> None:
    """Print the accuracies of a transfer study."""
    from regard.studies.transfer.report import accuracy_table

    results = study.results
    header, rows, _ = accuracy_table(results)
    seeds = "1 seed" if results["seeds"] == 1 else f"{results['seeds']} seeds"
    failed = [f"{name} failed: {reason}" for name, reason in results["failed"].items()]
    last = f"accuracy % (mean ± deviation of {seeds}); report: {study.report}"
    plain = {"transfer": str(study.path), "report": str(study.report)} | results
    given.show(plain, (header, rows, range(1, len(header))), *failed, last)
