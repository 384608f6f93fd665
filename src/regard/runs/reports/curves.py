"""The training curves of a run as one plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.reporting.drawing import literal_text, new_figure
from regard.tasks.contract import AnyTask

CURVES = "curves.png"

NOT_LOSSES = {"step", "epoch", "seconds", "learning_rate", "tokens_per_second", "data_wait"}
COLORS = {"train": "#4477aa", "valid": "#cc6677"}
BEST_COLOR = "#228833"

Line = tuple[list[float], list[float]]


@dataclass(frozen=True)
class CurvePanel:
    """One panel: a title, and lines of steps and values by name."""

    title: str
    lines: dict[str, Line]

    def value_at(self, step: int) -> float | None:
        """Return the value of its validation line at a step; None where it has none."""
        steps, values = self.lines.get("valid", ([], []))
        return dict(zip(steps, values, strict=True)).get(step)


def curve_note(task: AnyTask) -> str:
    """Return the meaning of the loss and the metric of curves, unlike the progress bar's and the table's."""
    validated = next((metric for metric in task.metrics if metric.is_validated), None)
    note = "The loss of the curves is without label smoothing; the one beside the progress bar is what is minimized."
    if validated is None or not validated.validated_as:
        return note
    return (
        f"{note} {validated.label} there is of the validation set ({validated.validated_as}); see the scores above."
    )


def draw_curves(metrics: Sequence[dict[str, float]], path: Path, task: AnyTask, best_step: int | None = None) -> None:
    """Plot loss, a validation metric, learning rate and speed over the steps, the best checkpoint marked."""
    panels = curve_panels(metrics, task)
    columns = min(2, max(1, len(panels)))
    rows = max(1, -(-len(panels) // columns))
    with literal_text():
        figure = new_figure(5.0 * columns, 3.2 * rows, layout="constrained")
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        for panel, axis in zip(panels, axes):
            _draw(axis, panel, best_step)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        if not panels:
            axes[0].text(0.5, 0.5, "no step was logged", ha="center", va="center", color="gray")
        figure.savefig(path, dpi=110)


def _draw(axis: Any, panel: CurvePanel, best_step: int | None) -> None:
    axis.set_title(panel.title, fontsize=10, loc="left")
    axis.set_xlabel("step", fontsize=8)
    axis.locator_params(axis="x", integer=True)
    axis.tick_params(labelsize=8)
    axis.grid(visible=True, alpha=0.3)
    for name, (steps, values) in panel.lines.items():
        marker = "o" if len(steps) < 40 else None
        axis.plot(steps, values, label=name, color=COLORS[name], marker=marker, markersize=3, linewidth=1.2)
    value = None if best_step is None else panel.value_at(best_step)
    if value is not None:
        axis.axvline(best_step, color=BEST_COLOR, linewidth=0.9, linestyle="--")
        label = f"best checkpoint, step {best_step:,}"
        axis.plot([best_step], [value], marker="*", markersize=11, color=BEST_COLOR, linestyle="none", label=label)
    if len(panel.lines) > 1 or value is not None:
        axis.legend(fontsize=8, frameon=False)


def curve_panels(metrics: Sequence[dict[str, float]], task: AnyTask) -> list[CurvePanel]:
    """Return the panels that have a line: steps and values by name."""
    curve = task.loss_curve
    trained = [line for line in metrics if "learning_rate" in line]
    # The NLL is the plain loss, which validation computes too; the first part may be smoothed.
    names = [name for name in (trained[0] if trained else {}) if name not in NOT_LOSSES]
    loss = curve.part if curve.part in names else names[0] if names else ""
    validated = [metric for metric in task.metrics if metric.is_validated]
    recorded = [each for each in validated if any(f"valid_{each.key}" in line for line in metrics)]
    panels = {f"loss per {curve.unit}": {"train": loss, "valid": curve.valid}}
    panels |= {
        f"{each.label} ({', '.join(filter(None, ('validation', each.validated_as)))})": {"valid": f"valid_{each.key}"}
        for each in recorded[:1]
    }
    panels |= {
        "learning rate": {"train": "learning_rate"},
        f"{task.wording.tokens} per second": {"train": "tokens_per_second"},
    }
    drawn = [
        CurvePanel(
            title, {name: _line(metrics, key) for name, key in lines.items() if any(key in line for line in metrics)}
        )
        for title, lines in panels.items()
    ]
    return [panel for panel in drawn if panel.lines]


def _line(metrics: Sequence[dict[str, float]], key: str) -> Line:
    lines = [line for line in metrics if key in line]
    return [line["step"] for line in lines], [line[key] for line in lines]
