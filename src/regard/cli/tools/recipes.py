"""`regard recipes`: the recipes that ship with the package."""

from regard.cli.options import Json


def recipes(json: Json = False) -> None:
    """List the recipes that can be trained by name."""
    from regard.cli.console import print_json, print_table
    from regard.runs.planning.recipes import shipped

    rows = [
        (name, str(recipe.values.get("task", "")), str(recipe.values.get("about", "")))
        for name, recipe in shipped().items()
    ]
    if json:
        print_json([dict(zip(("name", "task", "about"), row, strict=True)) for row in rows])
    else:
        print_table(("recipe", "task", "about"), rows)
