"""`regard tasks`, `recipes` and `presets`: what can be trained."""

from regard.cli.console import show
from regard.cli.options import NOTHING, Given, Json, flags_of, options
from regard.runs.planning.settings import PresetSettings


def tasks(json: Json = False) -> None:
    """List all tasks, built-in and installed: data, verbs and metrics of each."""
    from regard import registry

    rows = [
        {
            "task": task.name,
            "origin": registry.TASKS.package(task.name) or "built-in",
            "trains": task.wording.noun,
            "data": task.wording.data_flags,
            "verbs": [each.name for each in task.operations],
            "metrics": [each.label for each in task.metrics],
            "models": list(task.files.kinds),
            "init_from": sorted(task.init_from.rates) if task.init_from else [],
        }
        for task in registry.TASKS
    ]
    header = ("task", "origin", "trains", "data", "verbs", "metrics")
    words = lambda value: ", ".join(value) if isinstance(value, list) else str(value)
    show(json, rows, (header, [[words(each[name]) for name in header] for each in rows]))


def recipes(json: Json = False) -> None:
    """List the recipes that can be trained by name."""
    from regard.runs.planning.recipes import shipped

    header = ("recipe", "task", "about")
    rows = [(name, *(str(each.values.get(key, "")) for key in header[1:])) for name, each in shipped().items()]
    show(json, [dict(zip(("name", "task", "about"), row, strict=True)) for row in rows], (header, rows))


@options(*flags_of(PresetSettings, shows_defaults=True))
def presets(given: Given = NOTHING, json: Json = False) -> None:
    """List the model presets (model.preset) with their exact numbers of parameters."""
    from regard.models.presets import presets as all_presets
    from regard.runs.planning.plan import preset_parameters

    size = given.settings(PresetSettings).vocabulary
    rows = [(name, preset_parameters(name, size), preset.about) for name, preset in all_presets().items()]
    header = ("preset", f"parameters at {size:,} tokens", "about")
    table = [(name, f"{count:,}", about) for name, count, about in rows]
    plain = [{"preset": name, "parameters": count, "about": about} for name, count, about in rows]
    show(json, plain, (header, table, [1]))
