"""Who is taken for whom, as a picture."""

import re
import warnings
from collections.abc import Sequence
from pathlib import Path

MOST_NUMBERS = 20
"""Labels up to which the counts are written into the cells."""
LONGEST_NAME = 40
"""Characters of a label that are drawn."""


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
    names = [_drawn(label) for label in labels]
    panel.set_xticks(range(len(labels)), names, rotation=90, fontsize=8)
    panel.set_yticks(range(len(labels)), names, fontsize=8)
    panel.set_xlabel("said", fontsize=9)
    panel.set_ylabel("right", fontsize=9)
    panel.set_title(f"who is taken for whom: {_drawn(name)}", fontsize=10, loc="left")
    for row, counts in enumerate(confusion if len(labels) <= MOST_NUMBERS else []):
        for column, count in enumerate(counts):
            colour = "white" if shares[row][column] > 0.5 else "black"
            panel.text(column, row, f"{count:,}", ha="center", va="center", fontsize=8, color=colour)
    stem = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "set"
    path = folder / f"confusion-{stem}.png"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that the font lacks is drawn as a box
        figure.savefig(path, dpi=110)
    return path.name


def _drawn(text: str) -> str:
    """Return a text as it is drawn: short, on one line, and no formula though it may hold dollars."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    plain = plain if len(plain) <= LONGEST_NAME else f"{plain[: LONGEST_NAME - 1]}…"
    return plain.replace("\\", "/").replace("$", r"\$")
