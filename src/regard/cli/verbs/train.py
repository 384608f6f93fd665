"""`regard train`: training from a recipe, or directly from data files."""

from typing import Annotated

import typer

from regard.cli.options import NOTHING, Given, Json, Overwrite, Quiet, SettingWords, flags_of, options
from regard.cli.run_options import PROCESSES, RUN, TIME, run_overrides, time_limit
from regard.errors import ConfigError
from regard.runs.settings import StartSettings


@options(*RUN, *TIME, *PROCESSES, *flags_of(StartSettings, shows_defaults=True))
def train(
    recipe: Annotated[
        str | None,
        typer.Argument(metavar="[RECIPE]", help="Recipe name, TOML file, or task (see `regard recipes`, `tasks`)."),
    ] = None,
    settings: SettingWords = None,
    given: Given = NOTHING,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train a model; Ctrl-C saves a checkpoint, --resume continues the run.

    Examples: regard train translate-miniature train.steps=500 · regard train translate --source a.de --target a.en
    · regard train language-model --text books/ · regard train classify --data reviews.csv --init-from runs/bert
    """
    from regard.cli.console import progress
    from regard.cli.metrics import print_plan, print_run
    from regard.processes import command_began, is_main_process
    from regard.runs.planning.recipes import find_recipe, resolve_run
    from regard.runs.processes import start_processes
    from regard.runs.resume import resume as resume_run
    from regard.runs.resume import resumed_machine
    from regard.runs.train import train as train_run
    from regard.studies.doctor.examine import dry_run

    words, start = list(settings or []), given.settings(StartSettings)
    if recipe is not None and "=" in recipe:  # --resume takes no recipe, so the first word is a setting
        words.insert(0, recipe)
        recipe = None
    processes = {f"machine.{name}": value for name, value in given.values_of(each.name for each in PROCESSES).items()}
    overrides = time_limit(given) | run_overrides(words, given) | processes
    reporter = progress(quiet)
    if start.resume is not None:
        _check_resume(start, recipe, overwrite)
        start_processes(resumed_machine(start.resume, overrides))
        run = resume_run(start.resume, overrides, force=start.force, progress=reporter, began=command_began())
    else:
        recipe = _check_new(recipe, start.force)
        if start.dry_run:
            print_plan(dry_run(resolve_run(find_recipe(recipe), overrides), reporter), json)
            return
        start_processes(resolve_run(find_recipe(recipe), overrides).settings.machine)
        run = train_run(
            recipe, overrides, out=start.out, overwrite=overwrite, progress=reporter, began=command_began()
        )
    if is_main_process():
        print_run(run, json)


def _check_resume(start: StartSettings, recipe: str | None, overwrite: bool) -> None:
    """Raise for arguments of a new run."""
    if recipe is not None:
        raise ConfigError(f'--resume {start.resume} uses the recipe of that run; leave out "{recipe}".')
    for flag, value in (("--dry-run", start.dry_run), ("--out", start.out), ("--overwrite", overwrite)):
        if value:
            raise ConfigError(f"{flag} has no meaning with --resume {start.resume}; leave it out.")


def _check_new(recipe: str | None, force: bool) -> str:
    """Return the recipe of a new run; raise without one."""
    if force:
        raise ConfigError("--force is for --resume; use --overwrite to replace an existing run.")
    if recipe is None:
        raise ConfigError("There is no recipe; give a recipe name, a TOML file or a task (see regard recipes).")
    return recipe
