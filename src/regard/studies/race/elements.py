"""HTML elements of a report: sections, plots with captions, lists."""

from collections.abc import Sequence

from regard.escaping import in_html
from regard.studies.race.charts import Chart


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
