"""HTML of a report: the page, sections, plots with captions, tables, lists."""

from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from string import Template

from regard.checkpoint.atomic import write_text
from regard.escaping import in_html
from regard.studies.folder import REPORT
from regard.studies.race.charts import Chart
from regard.tasks.evaluation import Values

PAGE = resources.files("regard.studies.race") / "page.html"
Cells = Sequence[tuple[str, bool]]
"""The texts of a row of a table; True: the best of its column."""
VANISHED = 10
"""Ratio of the gradient norms at the shortest and the longest distance from which on a gradient vanishes."""


def write_page(folder: Path, charts: Sequence[Chart], page: str) -> Path:
    """Write report.html and its plots as PNGs, and return the page."""
    for chart in charts:
        chart.png(folder)
    write_text(folder / REPORT, page)
    return folder / REPORT


def report_page(title: str, subtitle: str, notices: Sequence[str], table: str, sections: Iterable[str]) -> str:
    """Return a self-contained page: a title, notices, a table of results, and sections."""
    return Template(PAGE.read_text(encoding="utf-8")).substitute(
        title=in_html(title),
        subtitle=in_html(subtitle),
        notices=bullets(notices),
        table=table,
        sections="\n".join(each for each in sections if each),
    )


def html_table(head: Sequence[str], rows: Sequence[Cells], note: str = "") -> str:
    """Return a table with a note below it."""
    names = "".join(f"<th>{in_html(name)}</th>" for name in head)
    cell = lambda text, is_best: f"<td{' class=best' if is_best else ''}>{in_html(text)}</td>"
    body = "".join(f"<tr>{''.join(cell(*each) for each in row)}</tr>" for row in rows)
    small = f"<small>{in_html(note)}</small>" if note else ""
    return f'<div class="wide"><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>{small}'


def machine_line(results: Values) -> str:
    """Return the machine and the versions that results come from."""
    machine = results["machine"]
    return (
        f"Machine: {machine['processor']}, {machine['device']}, {machine['threads']} threads, "
        f"{machine['precision']}, torch {machine['torch']}, regard {results['regard']}."
    )


def section(title: str, plots: Sequence[str], text: str = "") -> str:
    """Return a section of plots and text with a title; empty without either."""
    shown = [each for each in plots if each]
    if not shown and not text:
        return ""
    inside = f'<div class="grid">{"".join(shown)}</div>' if len(shown) > 1 else "".join(shown)
    return f"<section><h2>{in_html(title)}</h2>{inside}{text}</section>"


def figure(plot: Chart | None, caption: str) -> str:
    """Return a plot with its caption; empty where there is no plot."""
    if plot is None:
        return ""
    return f"<figure>{plot.svg()}<figcaption>{in_html(caption)}</figcaption></figure>"


def bullets(lines: Sequence[str]) -> str:
    """Return a bullet list; empty without lines."""
    return f"<ul>{''.join(f'<li>{in_html(line)}</li>' for line in lines)}</ul>" if lines else ""


def duration(seconds: float) -> str:
    """Return a duration as minutes:seconds, or hours:minutes:seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def reach_lines(members: Sequence[Values], side: str) -> list[str]:
    """Return the gradient norm of each member at the shortest and the longest distance measured."""
    lines = []
    for each in members:
        curve = each["reach"].get(side)
        if not curve or len(curve["distance"]) < 2:
            continue
        (near, far), (first, last) = ((values[0], values[-1]) for values in (curve["distance"], curve["gradient"]))
        verdict = "it vanishes with the distance" if last < first / VANISHED else "it does not vanish in this range"
        lines.append(f"{each['name']}: {first:.2g} at a distance of {near:g}, {last:.2g} at {far:g}: {verdict}.")
    return lines


def sample_table(members: Sequence[Values]) -> str:
    """Return a table of sentences with their references and the translations of every member."""
    samples = [each["samples"] for each in members]
    if not samples or not samples[0]:
        return ""
    groups = (
        (
            ("source", first["source"]),
            ("reference", first["reference"]),
            *((each["name"], each["samples"][number]["output"]) for each in members),
        )
        for number, first in enumerate(samples[0])
    )
    line = lambda name, text: f"<tr><th scope=row>{in_html(name)}</th><td>{in_html(text)}</td></tr>"
    bodies = "".join(f"<tbody>{''.join(line(*row) for row in group)}</tbody>" for group in groups)
    return f'<table class="texts">{bodies}</table>'
