"""`regard config`: the resolved settings of a recipe, and the meaning of each."""

from typing import Annotated

import typer

from regard.cli.options import JSON, Given, Recipe, SettingWords, options
from regard.cli.run_options import RUN, TIME, run_overrides, time_limit
from regard.cli.verb import Verbs

app = Verbs(help="Show resolved settings, or explain one.", no_args_is_help=True)


@app.command("show")
@options(JSON, *RUN, *TIME)
def show(given: Given, recipe: Recipe, settings: SettingWords = None) -> None:
    """Show every setting of a recipe with its value, the source of the value and its meaning.

    With data, these are the values that `regard train` would plan for it. Example: regard config show classify --data
    reviews.csv --minutes 10
    """
    from regard.runs.planning.explain import explain_recipe

    rows = explain_recipe(recipe, overrides=time_limit(given) | run_overrides(settings, given))
    table = [(each.name, each.shown, each.source, each.doc) for each in rows]
    given.show({each.name: each.to_dict() for each in rows}, (("setting", "value", "source", "meaning"), table))


@app.command("explain")
@options(JSON)
def explain(
    given: Given,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Dotted name of a setting, such as train.learning_rate.")],
    recipe: Annotated[
        str | None, typer.Argument(metavar="[RECIPE]", help="Recipe whose value is shown (default: a task's own).")
    ] = None,
    settings: SettingWords = None,
) -> None:
    """Explain a setting: its meaning, type, bounds and default, and the value and source in a recipe."""
    from regard.runs.planning.explain import explain_key

    setting, tasks = explain_key(key, recipe, settings or [])
    plain = {"setting": key, "meaning": setting.doc} | setting.facts | {"tasks": tasks}
    rows = [*setting.words.items(), ("tasks", ", ".join(tasks))]
    given.show(plain, f"{key}: {setting.doc}" if setting.doc else key, (("what", "value"), rows))
