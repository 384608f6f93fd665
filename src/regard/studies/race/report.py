"""The report of a race: one self-contained page, and its plots as files."""

import tomllib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from regard.escaping import in_html
from regard.studies.race.any_task import discipline
from regard.studies.race.charts import Chart
from regard.studies.race.disciplines import Discipline, Results, ranked
from regard.studies.race.elements import bullets, duration, html_table, machine_line, report_page, write_page
from regard.tasks.contract import find_task
from regard.tasks.evaluation import Values

CAPTIONS = resources.files("regard.studies.race") / "captions.toml"


def write_report(results: Results, folder: Path) -> Path:
    """Write report.html and the PNGs, and return the page."""
    plots = discipline(find_task(results["task"])).plots(results)
    return write_page(folder, plots, page(results, plots))


def page(results: Results, plots: Sequence[Chart]) -> str:
    """Return the HTML page, with plots and styles inline."""
    kind, captions = discipline(find_task(results["task"])), tomllib.loads(CAPTIONS.read_text(encoding="utf-8"))
    sections = kind.sections(results, {plot.name: plot for plot in plots}, captions)
    sections.append(_conditions(results, captions["trial"]))
    title, subtitle = f"Race {results['name']}", _subtitle(results, kind)
    return report_page(title, subtitle, _notices(results), _table(results, kind), sections)


def _subtitle(results: Results, kind: Discipline) -> str:
    trained, scored = kind.subtitle(results)
    is_seed_varied = (results["vary"] or "").partition("=")[0].strip() == "seed"
    common = " and tokenizer" if is_seed_varied else f", tokenizer and seed ({results['seed']})"
    return (
        f"{len(results['members'])} models, recipe {results['recipe']}, budget {results['budget']} each; the same "
        f"{trained}{common}; scored on {results['set']} ({scored})."
    )


def _notices(results: Results) -> list[str]:
    notices = [f"{name} failed: {reason}" for name, reason in results["failed"].items()]
    if results["waiting"]:
        notices.append(f"Not finished: {', '.join(results['waiting'])}. The same command resumes the race.")
    return notices + _too_long(results)


def _too_long(results: Results) -> list[str]:
    """Return a notice for each member for which some pairs of the set are too long."""
    return [
        f"{each['name']}: {each['too_long']:,} of {results['sentences']:,} pairs exceed its maximum length; their "
        f"translations count as empty, and they are excluded from the loss."
        for each in results["members"]
        if each.get("too_long")
    ]


def _table(results: Results, kind: Discipline) -> str:
    columns, rows = results["columns"], []
    best = {
        column["key"]: (max if column["best"] == "max" else min)(each[column["key"]] for each in results["members"])
        for column in columns
    }
    for each in ranked(results):
        cells = [
            (each["name"], False),
            *((_with_interval(each, c), each[c["key"]] == best[c["key"]]) for c in columns),
            (f"{each['parameters']:,}", False),
            (f"{each['steps']:,}", False),
            (f"{each['times']['tokens_per_second']:,.0f}", False),
            (duration(each["times"]["seconds"]), False),
        ]
        if "published" in results:
            # Where a setting is varied, members are not the published model.
            rungs = [] if results["vary"] else results["published"]["rungs"]
            rung = next((r for r in rungs if each["preset"] in r["presets"]), None)
            cells.append((f"{rung['bleu']:.1f}" if rung else "–", False))
        rows.append(cells)
    names = ["model", *(column["label"] for column in columns), "parameters", "steps", "tokens/s", "training time"]
    names += ["published"] if "published" in results else []
    return html_table(names, rows, f"In brackets: 95 % intervals. {kind.note(results)}")


def _with_interval(member: Values, column: Values) -> str:
    """Return a metric of a member with its 95% interval, where there is one."""
    value, interval = format(member[column["key"]], column["format"]), member["intervals"].get(column["key"])
    if not interval:
        return value
    low, high = (format(each, column["format"]) for each in interval)
    return f"{value} [{low}, {high}]"


def _update_size(results: Results) -> str:
    wording = find_task(results["task"]).wording
    if results["examples_per_update"]:
        return f"{results['examples_per_update']:,} {wording.examples}"
    return f"About {results['tokens_per_update']:,} {wording.tokens}"


def _conditions(results: Results, trial: str) -> str:
    trials = [
        f"{each['name']}: {1 / each['times']['planned_seconds_per_step']:.2f} steps per second in the trial, so "
        f"{each['steps']:,} steps; training took {duration(each['times']['seconds'])}."
        for each in results["members"]
        if each["times"]["planned_seconds_per_step"]
    ]
    how = f"<p>{in_html(trial)}</p>{bullets(trials)}" if trials else ""
    facts = [
        machine_line(results),
        f"{_update_size(results)} per update; the warm-up has the same fraction of the steps as in the recipe.",
        "Every member is a run in the folder runs beside this page.",
    ]
    return f"<section><h2>Conditions</h2>{how}{bullets(facts)}</section>"
