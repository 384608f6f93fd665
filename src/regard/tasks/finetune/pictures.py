"""Who is taken for whom, as a picture."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.escaping import in_picture
from regard.runs.reports.drawing import new_figure, words_as_they_are

MOST_NUMBERS = 20
"""Labels up to which the counts are written into the cells."""
LONGEST_STEM = 60
"""Characters of a set's name that its file is called by."""


def draw_confusion(folder: Path, name: str, confusion: Sequence[Sequence[int]], labels: Sequence[str]) -> str:
    """Draw the confusion matrix of a set into a folder, rows the truth and columns what was said; return its file.

    A cell is the darker the larger a share of its row it is: rare labels show as well as common ones.
    """
    side = min(14.0, 2.6 + 0.45 * len(labels))
    shares = [[count / max(1, sum(row)) for count in row] for row in confusion]
    names = [*map(in_picture, labels)]
    stem = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:LONGEST_STEM] or "set"
    path = folder / f"confusion-{stem}.png"
    with words_as_they_are():
        figure = new_figure(side, side, layout="constrained")
        _draw(figure.subplots(), in_picture(name), confusion, shares, names)
        figure.savefig(path, dpi=110)
    return path.name


def _draw(
    panel: Any,
    name: str,
    confusion: Sequence[Sequence[int]],
    shares: Sequence[Sequence[float]],
    labels: Sequence[str],
) -> None:
    panel.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    panel.set_xticks(range(len(labels)), labels, rotation=90, fontsize=8)
    panel.set_yticks(range(len(labels)), labels, fontsize=8)
    panel.set_xlabel("said", fontsize=9)
    panel.set_ylabel("right", fontsize=9)
    panel.set_title(f"who is taken for whom: {name}", fontsize=10, loc="left")
    for row, counts in enumerate(confusion if len(labels) <= MOST_NUMBERS else []):
        for column, count in enumerate(counts):
            color = "white" if shares[row][column] > 0.5 else "black"
            panel.text(column, row, f"{count:,}", ha="center", va="center", fontsize=8, color=color)
