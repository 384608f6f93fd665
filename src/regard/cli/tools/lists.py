"""`regard tasks`, `recipes` and `presets`: what can be trained."""

from regard.cli.options import JSON, Given, options
from regard.runs.planning.settings import PresetSettings


@options(JSON)
def tasks(given: Given) -> None:
    """List all tasks, built-in and installed: data, verbs and metrics of each."""
    from regard import registry

    rows = [
        {"task": task.name, "origin": registry.TASKS.package(task.name) or "built-in"} | task.summary()
        for task in registry.TASKS
    ]
    header = ("task", "origin", "trains", "data", "verbs", "metrics")
    words = lambda value: ", ".join(value) if isinstance(value, list) else str(value)
    given.show(rows, (header, [[words(each[name]) for name in header] for each in rows]))


@options(JSON)
def recipes(given: Given) -> None:
    """List the recipes that can be trained by name."""
    from regard.runs.planning.recipes import shipped

    rows = [(name, *(str(each.values.get(key, "")) for key in ("task", "about"))) for name, each in shipped().items()]
    plain = [dict(zip(("name", "task", "about"), row, strict=True)) for row in rows]
    given.show(plain, (("recipe", "task", "about"), rows))


@options(JSON, PresetSettings)
def presets(given: Given) -> None:
    """List the model presets (model.preset) with their exact numbers of parameters."""
    from regard.models.presets import presets as all_presets
    from regard.runs.planning.plan import preset_parameters

    size = given.settings(PresetSettings).vocabulary
    rows = [(name, preset_parameters(name, size), preset.about) for name, preset in all_presets().items()]
    table = [(name, f"{count:,}", about) for name, count, about in rows]
    plain = [dict(zip(("preset", "parameters", "about"), row, strict=True)) for row in rows]
    given.show(plain, (("preset", f"parameters at {size:,} tokens", "about"), table, [1]))
