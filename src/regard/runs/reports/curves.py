"""The training curves of a run as one plot."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.reporting.drawing import literal_text, new_figure
from regard.tasks.contract import AnyTask

CURVES = "curves.png"

NOT_LOSSES = {"step", "epoch", "seconds", "learning_rate", "tokens_per_second", "data_wait"}
COLORS = {"train": "#4477aa", "valid": "#cc6677"}


def draw_curves(metrics: Sequence[dict[str, float]], path: Path, task: AnyTask) -> None:
    """Plot loss, a validation metric, learning rate and speed over the steps; an empty panel is labeled so."""
    with literal_text():
        figure = new_figure(10, 6.4)
        panels = figure.subplots(2, 2).flat
        for panel, (title, lines) in zip(panels, panel_lines(metrics, task).items(), strict=True):
            panel.set_title(title, fontsize=10, loc="left")
            panel.set_xlabel("step", fontsize=8)
            panel.tick_params(labelsize=8)
            panel.grid(visible=True, alpha=0.3)
            _draw(panel, lines)
        figure.subplots_adjust(left=0.07, right=0.98, top=0.95, bottom=0.08, hspace=0.32, wspace=0.16)
        figure.savefig(path, dpi=110)


def _draw(panel: Any, lines: dict[str, tuple[list[float], list[float]]]) -> None:
    if not lines:
        panel.text(0.5, 0.5, "nothing recorded", ha="center", va="center", transform=panel.transAxes, color="gray")
        return
    for name, (steps, values) in lines.items():
        marker = "o" if len(steps) < 40 else None
        panel.plot(steps, values, label=name, color=COLORS[name], marker=marker, markersize=3, linewidth=1.2)
    if len(lines) > 1:
        panel.legend(fontsize=8, frameon=False)


def panel_lines(
    metrics: Sequence[dict[str, float]], task: AnyTask
) -> dict[str, dict[str, tuple[list[float], list[float]]]]:
    """Return the lines of each panel: steps and values by name, empty ones left out."""
    curve = task.loss_curve
    trained = [line for line in metrics if "learning_rate" in line]
    # The NLL is the plain loss, which validation computes too; the first part may be smoothed.
    names = [name for name in (trained[0] if trained else {}) if name not in NOT_LOSSES]
    loss = curve.part if curve.part in names else names[0] if names else ""
    validated = [metric for metric in task.metrics if metric.is_validated]
    recorded = [each for each in validated if any(f"valid_{each.key}" in line for line in metrics)]
    metric = next(iter(recorded or validated), None)
    panels = {
        f"loss per {curve.unit}": {"train": loss, "valid": curve.valid},
        f"{metric.label if metric else 'metric'} (validation)": {"valid": f"valid_{metric.key}" if metric else ""},
        "learning rate": {"train": "learning_rate"},
        f"{task.wording.tokens} per second": {"train": "tokens_per_second"},
    }
    return {
        title: {name: _line(metrics, key) for name, key in lines.items() if any(key in line for line in metrics)}
        for title, lines in panels.items()
    }


def _line(metrics: Sequence[dict[str, float]], key: str) -> tuple[list[float], list[float]]:
    lines = [line for line in metrics if key in line]
    return [line["step"] for line in lines], [line[key] for line in lines]
