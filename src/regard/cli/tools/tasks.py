"""`regard tasks`: what can be trained, from which data, and what a model of each can be asked."""

from regard.cli.options import Json


def tasks(json: Json = False) -> None:
    """List all tasks, built-in and installed: what each trains, the data it needs, its verbs and metrics."""
    from regard import registry
    from regard.cli.console import print_json, print_table

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
    if json:
        print_json(rows)
        return
    shown = ("task", "origin", "trains", "data", "verbs", "metrics")
    table = [
        [", ".join(each[name]) if isinstance(each[name], list) else str(each[name]) for name in shown]
        for each in rows
    ]
    print_table(shown, table)
