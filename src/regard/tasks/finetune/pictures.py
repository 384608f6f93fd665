"""The confusion matrix, and the metrics of each label, as plots."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.escaping import in_picture
from regard.reporting.drawing import literal_text, new_figure
from regard.tasks.finetune.records import ClassRecord

MAX_LABELS_WITH_COUNTS = 20
"""Number of labels up to which the counts are written into the cells."""
BARS = {"precision": "#88ccee", "recall": "#ddcc77", "f1": "#332288"}
"""Metrics of a label, and their colors."""
MAX_STEM = 60
"""Maximum characters of a set's name in the name of its file."""


def draw_confusion(folder: Path, name: str, confusion: Sequence[Sequence[int]], labels: Sequence[str]) -> str:
    """Plot the confusion matrix of a set into a folder, a row for each true label; return the file's name.

    Cells are shaded by their fraction of the row, so that rare labels are as visible as frequent ones.
    """
    side = min(14.0, 2.6 + 0.45 * len(labels))
    fractions = [[count / max(1, sum(row)) for count in row] for row in confusion]
    names = [*map(in_picture, labels)]
    path = folder / f"confusion-{_stem(name)}.png"
    with literal_text():
        figure = new_figure(side, side, layout="constrained")
        _draw(figure.subplots(), _title(name), confusion, fractions, names)
        figure.savefig(path, dpi=110)
    return path.name


def draw_label_bars(folder: Path, name: str, classes: Sequence[ClassRecord]) -> str:
    """Plot precision, recall and F1 of each label of a set into a folder; return the file's name."""
    path, side = folder / f"labels-{_stem(name)}.png", min(14.0, 1.6 + 0.45 * len(classes))
    with literal_text():
        figure = new_figure(7.0, side, layout="constrained")
        panel = figure.subplots()
        for number, (measure, color) in enumerate(BARS.items()):
            heights = [row + (number - 1) * 0.27 for row in range(len(classes))]
            values = [getattr(each, measure) for each in classes]
            panel.barh(heights, values, 0.25, label=measure.replace("f1", "F1"), color=color)
        names = [f"{in_picture(each.label)} ({each.count:,})" for each in classes]
        panel.set_yticks(range(len(classes)), names, fontsize=8)
        panel.invert_yaxis()
        panel.set_xlim(0, 1)
        panel.set_xlabel("score; in brackets: examples", fontsize=9)
        panel.set_title(f"Labels ({_title(name)})", fontsize=10, loc="left")
        figure.legend(fontsize=8, frameon=False, loc="outside right upper")
        figure.savefig(path, dpi=110)
    return path.name


def _stem(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[:MAX_STEM] or "set"


def _title(name: str) -> str:
    return in_picture("validation" if name == "valid" else name)


def _draw(
    panel: Any,
    name: str,
    confusion: Sequence[Sequence[int]],
    fractions: Sequence[Sequence[float]],
    labels: Sequence[str],
) -> None:
    panel.imshow(fractions, cmap="Blues", vmin=0.0, vmax=1.0)
    panel.set_xticks(range(len(labels)), labels, rotation=90, fontsize=8)
    panel.set_yticks(range(len(labels)), labels, fontsize=8)
    panel.set_xlabel("predicted label\n(color: fraction of the true label's row)", fontsize=9)
    panel.set_ylabel("true label", fontsize=9)
    panel.set_title(f"Confusion matrix ({name})", fontsize=10, loc="left")
    for row, counts in enumerate(confusion if len(labels) <= MAX_LABELS_WITH_COUNTS else []):
        for column, count in enumerate(counts):
            color = "white" if fractions[row][column] > 0.5 else "black"
            panel.text(column, row, f"{count:,}", ha="center", va="center", fontsize=8, color=color)
