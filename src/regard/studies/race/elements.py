"""The parts that a report's page is made of."""

from collections.abc import Sequence

from regard.escaping import in_html
from regard.studies.race.charts import Picture


def section(title: str, figures: Sequence[str], words: str = "") -> str:
    """Return figures under a title; nothing where there are none."""
    shown = [each for each in figures if each]
    if not shown and not words:
        return ""
    inside = f'<div class="grid">{"".join(shown)}</div>' if len(shown) > 1 else "".join(shown)
    return f"<section><h2>{in_html(title)}</h2>{inside}{words}</section>"


def figure(picture: Picture | None, caption: str) -> str:
    """Return a picture with what is to be said about it."""
    if picture is None:
        return ""
    return f"<figure>{picture.svg()}<figcaption>{in_html(caption)}</figcaption></figure>"


def bullets(lines: Sequence[str]) -> str:
    """Return a list of sentences."""
    return f"<ul>{''.join(f'<li>{in_html(line)}</li>' for line in lines)}</ul>" if lines else ""


def duration(seconds: float) -> str:
    """Return a time as clocks show it."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
