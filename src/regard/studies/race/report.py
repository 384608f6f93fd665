"""The report of a race: one self-contained page, and its plots as files."""

import tomllib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from string import Template

from regard.checkpoint.atomic import write_text
from regard.escaping import in_html
from regard.studies.folder import REPORT
from regard.studies.race.any_task import discipline
from regard.studies.race.charts import Chart
from regard.studies.race.disciplines import Discipline, Results, ranked
from regard.studies.race.elements import bullets, duration
from regard.tasks.contract import find_task
from regard.tasks.evaluation import Values

FOLDER = resources.files("regard.studies.race")


def write_report(results: Results, folder: Path) -> Path:
    """Write report.html and the PNGs, and return the page."""
    plots = discipline(find_task(results["task"])).plots(results)
    for plot in plots:
        plot.png(folder)
    write_text(folder / REPORT, page(results, plots))
    return folder / REPORT


def page(results: Results, plots: Sequence[Chart]) -> str:
    """Return the HTML page, with plots and styles inline."""
    template = (FOLDER / "page.html").read_text(encoding="utf-8")
    captions = tomllib.loads((FOLDER / "captions.toml").read_text(encoding="utf-8"))
    kind = discipline(find_task(results["task"]))
    sections = kind.sections(results, {plot.name: plot for plot in plots}, captions)
    sections.append(_conditions(results, captions["trial"]))
    return Template(template).substitute(
        title=in_html(f"Race {results['name']}"),
        subtitle=in_html(_subtitle(results, kind)),
        notices=_notices(results),
        table=_table(results, kind),
        sections="\n".join(each for each in sections if each),
    )


def _subtitle(results: Results, kind: Discipline) -> str:
    trained, scored = kind.subtitle(results)
    is_seed_varied = (results["vary"] or "").partition("=")[0].strip() == "seed"
    common = " and tokenizer" if is_seed_varied else f", tokenizer and seed ({results['seed']})"
    return (
        f"{len(results['members'])} models, recipe {results['recipe']}, budget {results['budget']} each; the same "
        f"{trained}{common}; scored on {results['set']} ({scored})."
    )


def _notices(results: Results) -> str:
    notices = [f"{name} failed: {reason}" for name, reason in results["failed"].items()]
    if results["waiting"]:
        notices.append(f"Not finished: {', '.join(results['waiting'])}. The same command resumes the race.")
    return bullets(notices + _too_long(results))


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
        rows.append("".join(f"<td{' class=best' if best else ''}>{in_html(text)}</td>" for text, best in cells))
    names = ["model", *(column["label"] for column in columns), "parameters", "steps", "tokens/s", "training time"]
    names += ["published"] if "published" in results else []
    head = "".join(f"<th>{in_html(name)}</th>" for name in names)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    note = f"In brackets: 95 % intervals. {kind.note(results)}"
    return f'<div class="wide">{table}</div><small>{in_html(note)}</small>'


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
    machine = results["machine"]
    facts = [
        f"Machine: {machine['processor']}, {machine['device']}, {machine['threads']} threads, "
        f"{machine['precision']}, torch {machine['torch']}, regard {results['regard']}.",
        f"{_update_size(results)} per update; the warm-up has the same fraction of the steps as in the recipe.",
        "Every member is a run in the folder runs beside this page.",
    ]
    return f"<section><h2>Conditions</h2>{how}{bullets(facts)}</section>"
