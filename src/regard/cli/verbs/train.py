"""`regard train`: training from a recipe, or directly from data files."""

from typing import Annotated

import typer

from regard.cli.options import JSON, OVERWRITE, QUIET, Given, SettingWords, flag_name, options
from regard.cli.run_options import PROCESSES, RUN, TIME, machine_overrides, run_overrides, time_limit
from regard.errors import ConfigError
from regard.runs.settings import StartSettings


@options(OVERWRITE, QUIET, JSON, *RUN, *TIME, *PROCESSES, StartSettings)
def train(
    given: Given,
    recipe: Annotated[
        str | None,
        typer.Argument(metavar="[RECIPE]", help="Recipe name, TOML file, or task (see `regard recipes`, `tasks`)."),
    ] = None,
    settings: SettingWords = None,
) -> None:
    """Train a model; Ctrl-C saves a checkpoint, --resume continues the run.

    Examples: regard train translate-miniature train.steps=500 · regard train translate --source a.de --target a.en
    · regard train language-model --text books/ · regard train classify --data reviews.csv --init-from runs/bert
    """
    from regard.cli.metrics import plan_parts, print_run
    from regard.processes import command_began, is_main_process
    from regard.runs.planning.recipes import find_recipe, resolve_run
    from regard.runs.processes import start_processes
    from regard.runs.resume import resume as resume_run
    from regard.runs.resume import resumed_machine
    from regard.runs.tokenize import tokenize_run
    from regard.runs.train import train as train_run
    from regard.studies.doctor.examine import dry_run

    words, start = list(settings or []), given.settings(StartSettings)
    if recipe is not None and "=" in recipe:  # --resume takes no recipe, so the first word is a setting
        words.insert(0, recipe)
        recipe = None
    recipe = _checked(recipe, given, start)
    overrides = machine_overrides(given) | time_limit(given) | run_overrides(words, given)
    reporter, began = given.progress, command_began()
    if start.resume is not None:
        start_processes(resumed_machine(start.resume, overrides))
        run = resume_run(start.resume, overrides, force=start.force, progress=reporter, began=began)
    else:
        resolved = resolve_run(find_recipe(recipe), overrides)
        if start.dry_run:
            plan = dry_run(resolved, reporter)
            given.show(plan.to_dict(), *plan_parts(plan))
            return
        start_processes(resolved.settings.machine)
        if start.tokenize_only:
            tokenize_run(resolved.settings, reporter)
            return
        run = train_run(recipe, overrides, **given.values_of(("out", "overwrite")), progress=reporter, began=began)
    if is_main_process():
        print_run(run, given)


def _checked(recipe: str | None, given: Given, start: StartSettings) -> str:
    """Return the recipe ("" for a run that is resumed); raise for arguments of the other kind of run."""
    if start.resume is None:
        if start.force:
            raise ConfigError("--force is for --resume; use --overwrite to replace an existing run.")
        if recipe is None:
            raise ConfigError("There is no recipe; give a recipe name, a TOML file or a task (see regard recipes).")
        return recipe
    if recipe is not None:
        raise ConfigError(f'--resume {start.resume} uses the recipe of that run; leave out "{recipe}".')
    for name in ("dry_run", "tokenize_only", "out", "overwrite"):
        if given[name]:
            raise ConfigError(f"{flag_name(name)} has no meaning with --resume {start.resume}; leave it out.")
    return ""
