"""The card of a run: a README on the model, its scores, its data, its settings, and how to use and repeat it."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.checkpoint.records import CONFIG
from regard.config.overrides import parse_overrides
from regard.config.settings import flatten
from regard.errors import RunError
from regard.escaping import as_markdown_paragraph, in_markdown
from regard.progress import Progress
from regard.reporting.markdown import code, fenced, table
from regard.runs.reports.curves import CURVES, curve_note, draw_curves
from regard.runs.reports.scores import scores_section
from regard.runs.store.folder import RunFolder
from regard.runs.store.listing import state_of
from regard.tasks.card import CardInput, usage
from regard.tasks.contract import AnyTask, find_task
from regard.tasks.record import RECORD, RunRecord
from regard.training.reports.metrics_log import METRICS, read_metrics

CARD = "README.md"
MARK = "<!-- Written by regard; `regard card` writes it anew, so changes made here are lost. -->"


def write_card(run: RunFolder, redraws: bool = True) -> Path:
    """Write a run's card and its curves from what the folder holds, and return the card's path.

    Curves that exist already are plotted again only with `redraws`.
    """
    path = run.path / CARD
    record = run.record
    if path.exists() and MARK not in path.read_text(encoding="utf-8", errors="replace"):
        raise RunError(f"{path}: this was not written by regard; move it away to make room for the card.")
    if not record.is_prepared:
        raise RunError(f"{run.path}: this run has not begun to train ({state_of(record)}), so it has no card yet.")
    metrics, task = read_metrics(run.path / METRICS), find_task(record.task)
    if redraws or not (run.path / CURVES).exists():
        draw_curves(metrics, run.path / CURVES, task, record.best_step)
    card = CardInput(run.path, record)
    sections = [
        _head(run, record),
        usage(run.path, task.usage_of(record)),
        scores_section(run, task, card),
        ["## Curves", "", f"![loss, validation metric, learning rate and speed]({CURVES})", "", curve_note(task)],
        task.describe(card),
        _settings(record),
        _machine(task, record, metrics),
        _repeat(run, task, record),
    ]
    path.write_text("\n\n".join("\n".join(section) for section in sections) + "\n", encoding="utf-8")
    return path


def leave_card(run: RunFolder, progress: Progress, redraws: bool = True) -> None:
    """Write the card of a run that has just ended or been evaluated; one that cannot be written fails neither."""
    try:
        write_card(run, redraws)
    except (OSError, RunError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        progress.warn(f"{run.path}: the card could not be written ({reason}); regard card {run.path} tries again.")


def _head(run: RunFolder, record: RunRecord) -> list[str]:
    settings = record.settings
    about = [as_markdown_paragraph(settings.about), ""] if settings.about else []
    steps = "" if record.steps is None else f" after {record.steps:,} steps, best at step {record.best_step:,}"
    codes = ", ".join(map(code, settings.plain.get("languages", ())))
    languages = f" Languages: {codes}." if codes else ""
    return [
        MARK,
        f"# {in_markdown(run.path.name)}",
        "",
        *about,
        f"A model for the task {code(record.task)}: {in_markdown(settings.model.preset or settings.model.family)}, "
        f"{record.parameters:,} parameters, trained by regard {record.regard}; {state_of(record)}{steps}.{languages}",
    ]


def _settings(record: RunRecord) -> list[str]:
    sources = record.sources
    given = [(name, value) for name, value in flatten(record.settings.plain) if value not in (None, [], {})]
    rows = [(code(name), code(value), sources.get(name, "default")) for name, value in given]
    chosen = [row for row in rows if row[2] != "default"]
    header = ["setting", "value", "from"]
    defaults = table(header, [row for row in rows if row[2] == "default"])
    folded = ["<details><summary>Settings left at their defaults</summary>", "", *defaults, "", "</details>"]
    return ["## Settings", "", *table(header, chosen), "", *folded]


def _machine(task: AnyTask, record: RunRecord, metrics: Sequence[dict[str, float]]) -> list[str]:
    seconds = record.seconds or (metrics[-1].get("seconds", 0.0) if metrics else 0.0)
    speeds = sorted(line["tokens_per_second"] for line in metrics if "tokens_per_second" in line)
    speed = f"{speeds[len(speeds) // 2]:,.0f} (median)" if speeds else ""
    waiting = f"{record.data_wait_seconds / max(seconds, 1e-9):.2%}".replace("%", " %")
    rows = [
        ("started", record.started),
        ("training", f"{seconds:,.1f} s"),
        *([("of it waiting for data", waiting)] if "data_wait_seconds" in record.model_fields_set else []),
        *([(f"{task.wording.tokens} per second", speed)] if speed else []),
    ]
    machine = record.machine.plain if record.machine else {}
    return ["## Time and hardware", "", *table(["what", "value"], [*rows, *machine.items()])]


def _repeat(run: RunFolder, task: AnyTask, record: RunRecord) -> list[str]:
    again = str(run.path.with_name(run.path.name + "-again"))
    command = repeat_command(record)
    shell = [*fenced("sh", f"{command} --out {shlex.quote(again)}"), ""] if command else []
    settings = json.dumps(str(run.path / RECORD), ensure_ascii=False)
    return [
        "## Repeat it",
        "",
        *shell,
        *(["Or with exactly the settings above, whatever became of the recipe since:", ""] if shell else []),
        *fenced(
            "python",
            "import json",
            "from pathlib import Path",
            "",
            "import regard",
            "",
            f'settings = json.loads(Path({settings}).read_text(encoding="utf-8"))["settings"]',
            f"regard.train(settings, out={json.dumps(again, ensure_ascii=False)})",
        ),
        "",
        f"{task.repeatability(record)} Each checkpoint folder holds its own `{CONFIG}`.",
    ]


def repeat_command(record: RunRecord) -> str | None:
    """Return the command that trains the same model again; None for a run without a recipe or task of its own."""
    sources = record.sources
    origin = next((source for source in sources.values() if source.startswith(("recipe ", "task "))), None)
    if origin is None:
        return None
    words = ["regard", "train", origin.partition(" ")[2]]
    for name, value in flatten(record.settings.plain):
        source = sources.get(name)
        is_given = source == "the command line" or (origin.startswith("task ") and name.startswith("data."))
        if source and is_given and value is not None:
            words.append(_word(name, value))
    return shlex.join(words)


def _word(name: str, value: Any) -> str:
    """Return key=value such that reading it gives the value back; a text that looks like a number needs quotes."""
    if isinstance(value, str):
        plain = f"{name}={value}"
        if dict(flatten(parse_overrides([plain]))) == {name: value}:
            return plain
    return f"{name}={json.dumps(value, ensure_ascii=False)}"
