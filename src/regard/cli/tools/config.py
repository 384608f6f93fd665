"""`regard config`: what a recipe amounts to."""

from typing import Annotated

import typer

from regard.cli.options import Json, SettingWords
from regard.cli.verb import Verbs

REQUIRED = "(required)"

app = Verbs(help="Look at settings.", no_args_is_help=True)


@app.callback()
def _config() -> None:
    pass


@app.command("show")
def show(
    recipe: Annotated[str, typer.Argument(help="A recipe's name, a TOML file, or a task.")],
    settings: SettingWords = None,
    json: Json = False,
) -> None:
    """Show every setting of a recipe, its value, and where the value came from."""
    from dataclasses import replace
    from json import dumps

    from regard.cli.console import print_json, print_table
    from regard.config.overrides import parse_overrides
    from regard.config.settings import flatten
    from regard.runs.planning.recipes import find_recipe, resolve_run
    from regard.tasks.contract import task

    found, changes = find_recipe(recipe), parse_overrides(settings or [])
    named = changes.get("task", found.values.get("task"))
    tables = [table for table in (found.values.get("data"), changes.get("data")) if table is not None]
    if isinstance(named, str) and not any(not isinstance(table, dict) or "train" in table for table in tables):
        # A bare task: all its defaults, and what must be given.
        place = {"paths": [REQUIRED]} if task(named).places.startswith("--text") else {"path": REQUIRED}
        found = replace(found, values={**found.values, "data": {**found.values.get("data", {}), "train": place}})
    resolved = resolve_run(found, changes)
    rows = [
        (name, value, resolved.source(name)) for name, value in flatten(resolved.settings.model_dump(mode="json"))
    ]
    if json:
        print_json({name: {"value": value, "source": source} for name, value, source in rows})
    else:
        table = [(name, dumps(value, ensure_ascii=False), source) for name, value, source in rows]
        print_table(("setting", "value", "source"), table)
