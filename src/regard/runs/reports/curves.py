"""The curves of a run as one picture, drawn from its metrics."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.runs.reports.drawing import new_figure, words_as_they_are

CURVES = "curves.png"

NOT_LOSSES = {"step", "epoch", "seconds", "learning_rate", "tokens_per_second", "data_wait"}
TRANSLATION = ("target token", "valid_loss", "target tokens", "BLEU", "valid_bleu")
LANGUAGE = ("target token", "valid_loss", "target tokens", "perplexity", "valid_perplexity")
FIGURES = {
    "label": ("label", "valid_loss", "tokens", "accuracy", "valid_accuracy"),
    "pair": ("pair of words", "valid_loss", "words", "score", "valid_score"),
    "mlm": ("masked token", "valid_mlm_loss", "tokens", "accuracy", "valid_masked_accuracy"),
}
"""By a part of the loss: what it is of, the same on validation, what speed counts, and a score on validation."""
LABEL_FIGURES = {"f1": "F1", "spearman": "Spearman's correlation"}
"""What models that were fine-tuned are watched by, where it is not accuracy."""
COLOURS = {"train": "#4477aa", "valid": "#cc6677"}


def draw_curves(metrics: Sequence[dict[str, float]], path: Path, task: str = "translate") -> None:
    """Draw loss, BLEU, learning rate and speed over the steps; a panel without figures says so."""
    with words_as_they_are():
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
        panel.text(0.5, 0.5, "nothing recorded", ha="center", va="center", transform=panel.transAxes, color="grey")
        return
    for name, (steps, values) in lines.items():
        marker = "o" if len(steps) < 40 else None
        panel.plot(steps, values, label=name, color=COLOURS[name], marker=marker, markersize=3, linewidth=1.2)
    if len(lines) > 1:
        panel.legend(fontsize=8, frameon=False)


def panel_lines(
    metrics: Sequence[dict[str, float]], task: str = "translate"
) -> dict[str, dict[str, tuple[list[float], list[float]]]]:
    """Return the lines of each panel: steps and values by name, empty ones left out."""
    trained = [line for line in metrics if "learning_rate" in line]
    # The NLL is the plain loss, which validation measures too; the first part may be smoothed.
    names = [name for name in (trained[0] if trained else {}) if name not in NOT_LOSSES]
    loss = "nll" if "nll" in names else names[0] if names else ""
    usual = LANGUAGE if task == "language-model" else TRANSLATION
    of, valid, counted, score, measured = next((FIGURES[name] for name in names if name in FIGURES), usual)
    for figure, words in LABEL_FIGURES.items():
        if "label" in names and any(f"valid_{figure}" in line for line in metrics):
            score, measured = words, f"valid_{figure}"
    panels = {
        f"loss of a {of}": {"train": loss, "valid": valid},
        f"{score} on validation": {"valid": measured},
        "learning rate": {"train": "learning_rate"},
        f"{counted} per second": {"train": "tokens_per_second"},
    }
    return {
        title: {name: _line(metrics, key) for name, key in lines.items() if any(key in line for line in metrics)}
        for title, lines in panels.items()
    }


def _line(metrics: Sequence[dict[str, float]], key: str) -> tuple[list[float], list[float]]:
    found = [line for line in metrics if key in line]
    return [line["step"] for line in found], [line[key] for line in found]
