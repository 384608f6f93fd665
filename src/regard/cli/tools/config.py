"""`regard config`: the resolved settings of a recipe."""

from typing import Annotated

import typer

from regard.cli.options import Json, SettingWords
from regard.cli.verb import Verbs

REQUIRED = "(required)"

app = Verbs(help="Show resolved settings.", no_args_is_help=True)


@app.callback()
def _config() -> None:
    pass


@app.command("show")
def show(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="Recipe name (see `regard recipes`), TOML file, or task.")
    ],
    settings: SettingWords = None,
    json: Json = False,
) -> None:
    """Show every setting of a recipe with its value and the source of the value."""
    from dataclasses import replace
    from json import dumps

    from regard.cli.console import print_json, print_table
    from regard.config.overrides import parse_overrides
    from regard.config.settings import flatten
    from regard.runs.planning.recipes import find_recipe, resolve_run
    from regard.tasks.contract import find_task

    layer, overrides = find_recipe(recipe), parse_overrides(settings or [])
    name = overrides.get("task", layer.values.get("task"))
    tables = [table for table in (layer.values.get("data"), overrides.get("data")) if table is not None]
    if isinstance(name, str) and not any(not isinstance(table, dict) or "train" in table for table in tables):
        # A task without data: all its defaults, and a placeholder for the training data.
        source = {"paths": [REQUIRED]} if "paths" in find_task(name).source.model_fields else {"path": REQUIRED}
        layer = replace(layer, values={**layer.values, "data": {**layer.values.get("data", {}), "train": source}})
    resolved = resolve_run(layer, overrides)
    rows = [
        (name, value, resolved.source(name)) for name, value in flatten(resolved.settings.model_dump(mode="json"))
    ]
    if json:
        print_json({name: {"value": value, "source": source} for name, value, source in rows})
    else:
        table = [(name, dumps(value, ensure_ascii=False), source) for name, value, source in rows]
        print_table(("setting", "value", "source"), table)
