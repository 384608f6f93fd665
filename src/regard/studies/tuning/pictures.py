"""Who is taken for whom, as a picture."""

import re
from collections.abc import Sequence
from pathlib import Path

MOST_NUMBERS = 20
"""Labels up to which the counts are written into the cells."""


def draw_confusion(folder: Path, name: str, confusion: Sequence[Sequence[int]], labels: Sequence[str]) -> str:
    """Draw the confusion matrix of a set into a folder, rows the truth and columns what was said; return its file.

    A cell is the darker the larger a share of its row it is: rare labels show as well as common ones.
    """
    # matplotlib takes most of a second to load, and only a picture needs it.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    side = min(14.0, 2.6 + 0.45 * len(labels))
    figure = Figure(figsize=(side, side), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    shares = [[count / max(1, sum(row)) for count in row] for row in confusion]
    panel.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    panel.set_xticks(range(len(labels)), labels, rotation=90, fontsize=8)
    panel.set_yticks(range(len(labels)), labels, fontsize=8)
    panel.set_xlabel("said", fontsize=9)
    panel.set_ylabel("right", fontsize=9)
    panel.set_title(f"who is taken for whom: {name}", fontsize=10, loc="left")
    for row, counts in enumerate(confusion if len(labels) <= MOST_NUMBERS else []):
        for column, count in enumerate(counts):
            colour = "white" if shares[row][column] > 0.5 else "black"
            panel.text(column, row, f"{count:,}", ha="center", va="center", fontsize=8, color=colour)
    stem = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "set"
    path = folder / f"confusion-{stem}.png"
    figure.savefig(path, dpi=110)
    return path.name
