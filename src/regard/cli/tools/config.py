"""`regard config`: the resolved settings of a recipe, and the meaning of each."""

from json import dumps
from typing import Annotated

import typer

from regard.cli.console import show as show_values
from regard.cli.options import NOTHING, Given, Json, Recipe, SettingWords, options
from regard.cli.run_options import RUN, TIME, run_overrides, time_limit
from regard.cli.verb import Verbs

app = Verbs(help="Show resolved settings, or explain one.", no_args_is_help=True)


@app.command("show")
@options(*RUN, *TIME)
def show(recipe: Recipe, settings: SettingWords = None, given: Given = NOTHING, json: Json = False) -> None:
    """Show every setting of a recipe with its value, the source of the value and its meaning.

    With data, these are the values that `regard train` would plan for it. Example: regard config show classify --data
    reviews.csv --minutes 10
    """
    from regard.runs.planning.explain import explain_recipe

    rows = explain_recipe(recipe, overrides=time_limit(given) | run_overrides(settings or [], given))
    table = [(each.name, dumps(each.value, ensure_ascii=False), each.source, each.doc) for each in rows]
    plain = {each.name: {"value": each.value, "source": each.source, "meaning": each.doc} for each in rows}
    show_values(json, plain, (("setting", "value", "source", "meaning"), table))


@app.command("explain")
def explain(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Dotted name of a setting, such as train.learning_rate.")],
    recipe: Annotated[
        str | None, typer.Argument(metavar="[RECIPE]", help="Recipe whose value is shown (default: a task's own).")
    ] = None,
    settings: SettingWords = None,
    json: Json = False,
) -> None:
    """Explain a setting: its meaning, type, bounds and default, and the value and source in a recipe."""
    from regard.runs.planning.explain import explain_key, explained_rows

    setting, tasks = explain_key(key, recipe, settings or [])
    plain = {"setting": key, "meaning": setting.doc} | setting.facts | {"tasks": tasks}
    title = f"{key}: {setting.doc}" if setting.doc else key
    show_values(json, plain, title, (("what", "value"), explained_rows(setting, tasks)))
