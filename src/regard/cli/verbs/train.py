"""`regard train`: training from a recipe, or directly from data files."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import NOTHING, Given, Json, Overwrite, Quiet, SettingWords, options
from regard.cli.run_options import PROCESSES, RUN, TIME, run_overrides, time_limit


@options(*RUN, *TIME, *PROCESSES)
def train(
    recipe: Annotated[
        str | None,
        typer.Argument(
            metavar="[RECIPE]",
            help="Recipe name (see `regard recipes`), TOML file, or task: translate, language-model, elmo, "
            "masked-language-model, vectors, classify, regress, tag, answer, choose.",
        ),
    ] = None,
    settings: SettingWords = None,
    given: Given = NOTHING,
    out: Annotated[Path | None, typer.Option(help="Run folder (default: runs/RECIPE).")] = None,
    resume: Annotated[Path | None, typer.Option(help="Resume this run instead of starting a new one.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="With --resume: resume even if a data file has changed.")
    ] = False,
    overwrite: Overwrite = False,
    dry_run: Annotated[
        bool,
        typer.Option(help="Load and tokenize the data and print the plan and the estimated time, without training."),
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train a model; Ctrl-C saves a checkpoint, --resume continues the run.

    Examples: regard train translate-miniature train.steps=500 · regard train translate --source a.de --target a.en
    · regard train language-model --text books/ · regard train classify --data reviews.csv --init-from runs/bert
    """
    new: dict[str, object] = {"dry_run": dry_run, "out": out, "overwrite": overwrite}
    from regard.cli.console import progress
    from regard.cli.metrics import print_plan, print_run
    from regard.processes import is_main_process
    from regard.runs.planning.plan import plan_run
    from regard.runs.planning.recipes import find_recipe, resolve_run
    from regard.runs.preflight import preflight
    from regard.runs.processes import start_processes
    from regard.runs.resume import resume as resume_run
    from regard.runs.resume import resumed_machine
    from regard.runs.train import train as train_run
    from regard.studies.doctor.speed import training_seconds
    from regard.studies.doctor.trial import TrialSetup
    from regard.tasks.contract import find_task
    from regard.training.device.machine import prepare_machine

    words = list(settings or [])
    if recipe is not None and "=" in recipe:  # --resume takes no recipe, so the first word is a setting
        words.insert(0, recipe)
        recipe = None
    processes = {f"machine.{name}": value for name, value in given.values_of(each.name for each in PROCESSES).items()}
    overrides = time_limit(given) | run_overrides(words, given) | processes
    reporter = progress(quiet)
    if resume is not None:
        _check_resume(resume, recipe, new)
        start_processes(resumed_machine(resume, overrides))
        run = resume_run(resume, overrides, force=force, progress=reporter)
    else:
        recipe = _check_new(recipe, force)
        if dry_run:
            run_settings = resolve_run(find_recipe(recipe), overrides).settings
            plan, prepared = plan_run(run_settings, reporter)
            preflight(run_settings, prepared, reporter)
            if find_task(run_settings.task).has_trials:
                setup = TrialSetup(run_settings, prepared, prepare_machine(run_settings.machine))
                plan = replace(plan, seconds=training_seconds(setup, reporter))
            print_plan(plan, json)
            return
        start_processes(resolve_run(find_recipe(recipe), overrides).settings.machine)
        run = train_run(recipe, overrides, out=out, overwrite=overwrite, progress=reporter)
    if is_main_process():
        print_run(run, json)


def _check_resume(run: Path, recipe: str | None, new: dict[str, object]) -> None:
    """Raise for arguments of a new run."""
    from regard.errors import ConfigError

    if recipe is not None:
        raise ConfigError(f'--resume {run} uses the recipe of that run; leave out "{recipe}".')
    for name, value in new.items():
        if value:
            raise ConfigError(f"--{name.replace('_', '-')} has no meaning with --resume {run}; leave it out.")


def _check_new(recipe: str | None, force: bool) -> str:
    """Return the recipe of a new run; raise without one."""
    from regard.errors import ConfigError

    if force:
        raise ConfigError("--force is for --resume; use --overwrite to replace an existing run.")
    if recipe is None:
        raise ConfigError("There is no recipe; give a recipe name, a TOML file or a task (see regard recipes).")
    return recipe
