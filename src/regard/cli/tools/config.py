"""`regard config`: the resolved settings of a recipe, and the meaning of each."""

from typing import Annotated

import typer

from regard.cli.options import Json, Recipe, SettingWords
from regard.cli.verb import Verbs

app = Verbs(help="Show resolved settings, or explain one.", no_args_is_help=True)


@app.command("show")
def show(recipe: Recipe, settings: SettingWords = None, json: Json = False) -> None:
    """Show every setting of a recipe with its value, the source of the value and its meaning."""
    from json import dumps

    from regard.cli.console import print_json, print_table
    from regard.runs.planning.explain import explain_recipe

    rows = explain_recipe(recipe, settings or [])
    if json:
        print_json({each.name: {"value": each.value, "source": each.source, "meaning": each.doc} for each in rows})
    else:
        table = [(each.name, dumps(each.value, ensure_ascii=False), each.source, each.doc) for each in rows]
        print_table(("setting", "value", "source", "meaning"), table)


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
    from json import dumps

    from regard.cli.console import print_json, print_line, print_table
    from regard.config.settings import Settings
    from regard.runs.planning.explain import explain_key

    setting, tasks = explain_key(key, recipe, settings or [])
    field = setting.field
    default = field.default if field and not field.is_required else None
    values = {
        "type": field.type_words if field else "",
        "default": default.model_dump(mode="json") if isinstance(default, Settings) else default,
        "value": setting.value,
        "source": setting.source,
        "tasks": tasks,
    }
    if json:
        print_json({"setting": key, "meaning": setting.doc} | values)
        return
    print_line(f"{key}: {setting.doc}" if setting.doc else key)
    shown = {name: dumps(value, ensure_ascii=False, default=str) for name, value in values.items()}
    shown |= {"type": str(values["type"]), "source": setting.source, "tasks": ", ".join(tasks)}
    if field is not None and field.is_required:
        shown["default"] = "none, it is required"
    print_table(("what", "value"), list(shown.items()))
