"""Runs: the list of a folder, curves and card of each, samples from validation."""

from pathlib import Path

from pydantic import Field

from regard.config.settings import flatten
from regard.data.settings.pairs import PairData
from regard.errors import RunError
from regard.pipelines.base import AnyPipeline
from regard.progress import SILENT
from regard.runs.reports.curves import curve_note, curve_panels
from regard.runs.run import Run
from regard.runs.store.folder import read_record
from regard.runs.store.listing import RunSummary, list_runs
from regard.studio.messages import ModelRequest, StudioMessage
from regard.studio.settings import StudioSettings
from regard.studio.store import run_path
from regard.studio.views.fitting import views_of
from regard.studio.views.models import generating
from regard.tasks.contract import find_task
from regard.tasks.translate.pipeline import Translator
from regard.tasks.translate.prepare import validation_pairs
from regard.training.reports.metrics_log import METRICS, read_metrics

CARD = "README.md"
LONGEST_CARD = 200_000


class RunsRequest(StudioMessage):
    """All runs."""


class RunLine(StudioMessage):
    """One run in the list."""

    name: str
    """Its path below the folder of runs."""
    state: str
    task: str | None
    noun: str
    """The kind of model in words: "a translator"."""
    preset: str | None
    metric: str | None
    score: float | None
    parameters: int | None
    steps: int | None
    started: str | None
    is_alive: bool
    """True where a process is training it now."""
    is_broken: bool
    reason: str | None
    views: list[str]
    """The views that can show its model; empty before its first checkpoint."""


class RunsView(StudioMessage):
    """The runs of the folder, the newest first."""

    folder: str
    runs: list[RunLine]


class RunRequest(StudioMessage):
    """One run, by its path below the folder of runs."""

    run: str


class Line(StudioMessage):
    """A line of a chart."""

    name: str
    steps: list[float]
    values: list[float]


class Panel(StudioMessage):
    """A chart of a run: lines of values by step."""

    title: str
    lines: list[Line]


class SettingValue(StudioMessage):
    """A setting of a run, and where its value came from."""

    name: str
    value: str
    source: str


class RunView(StudioMessage):
    """A run: its curves so far, its settings with their sources, its card."""

    run: str
    state: str
    is_alive: bool
    step: int
    steps: int | None
    seconds: float
    tokens_per_second: float | None
    best_step: int | None
    panels: list[Panel]
    note: str
    settings: list[SettingValue]
    card: str


class SamplesRequest(ModelRequest):
    """A number of samples."""

    count: int = Field(4, ge=1, le=16)


class Sample(StudioMessage):
    """A text of validation with its reference, and what the model makes of it."""

    source: str
    reference: str
    output: str


class SamplesView(StudioMessage):
    """Samples of the best checkpoint."""

    samples: list[Sample]


def show_runs(settings: StudioSettings, request: RunsRequest) -> RunsView:
    """Return the runs of the folder; one that cannot be read is shown with the reason."""
    folder = settings.runs
    summaries = list_runs(folder, has_sizes=False) if folder.is_dir() else []
    return RunsView(folder=str(folder), runs=[_line(folder, each) for each in summaries])


def _line(folder: Path, summary: RunSummary) -> RunLine:
    views, noun = list[str](), ""
    if summary.task is not None:
        noun = find_task(summary.task).wording.noun
        views = views_of(Run(summary.path))
    return RunLine(
        name=summary.path.relative_to(folder).as_posix(),
        state=summary.state,
        task=summary.task,
        noun=noun,
        preset=summary.preset,
        metric=summary.score.metric if summary.score else None,
        score=summary.score.value if summary.score else None,
        parameters=summary.parameters,
        steps=summary.steps,
        started=summary.started,
        is_alive=summary.state in ("running", "preparing"),
        is_broken=summary.reason is not None,
        reason=summary.reason,
        views=views,
    )


def show_run(settings: StudioSettings, request: RunRequest) -> RunView:
    """Return a run with its curves so far."""
    run = Run(run_path(settings.runs, request.run))
    record, metrics = run.record, read_metrics(run.path / METRICS)
    task = find_task(record.task)
    (line,) = [each for each in list_runs(run.path, has_sizes=False) if each.path == run.path]
    speeds = [each["tokens_per_second"] for each in metrics if "tokens_per_second" in each]
    plain = record.settings.plain
    planned = plain.get("train", {}).get("steps")
    last = int(metrics[-1]["step"]) if metrics else 0
    panels = [
        Panel(
            title=panel.title,
            lines=[Line(name=name, steps=steps, values=values) for name, (steps, values) in panel.lines.items()],
        )
        for panel in curve_panels(metrics, task)
    ]
    return RunView(
        run=request.run,
        state=line.state,
        is_alive=line.state in ("running", "preparing"),
        step=max(last, record.steps or 0),
        steps=record.steps if line.state == "finished" else planned if isinstance(planned, int) else None,
        seconds=float(metrics[-1].get("seconds", 0.0)) if metrics else 0.0,
        tokens_per_second=speeds[-1] if speeds else None,
        best_step=record.best_step,
        panels=panels,
        note=curve_note(task),
        settings=settings_of(plain, record.sources),
        card=_card(run.path / CARD),
    )


def settings_of(plain: dict[str, object], sources: dict[str, str]) -> list[SettingValue]:
    """Return settings by dotted name, each with the layer that set it."""
    return [
        SettingValue(name=name, value=_shown(value), source=sources.get(name, "default"))
        for name, value in flatten(plain)
    ]


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _card(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[:LONGEST_CARD]
    except OSError:
        return ""


def show_samples(pipeline: AnyPipeline, request: SamplesRequest) -> SamplesView:
    """Return what the model makes of a few texts of its validation set, or of an empty prompt."""
    if not isinstance(pipeline, Translator):
        outputs = [
            generating(pipeline)("", max_new_tokens=60, seed=seed).text for seed in range(1, request.count + 1)
        ]
        return SamplesView(samples=[Sample(source="", reference="", output=each) for each in outputs])
    record = read_record(pipeline.origin)
    if record is None:
        raise RunError(f"{pipeline.origin}: there is no run here, and so no validation data.")
    pairs = validation_pairs(record.data_settings(PairData), SILENT)
    rows = [pairs[len(pairs) * number // request.count] for number in range(min(request.count, len(pairs)))]
    outputs = [each.text for each in pipeline([pair.source for pair in rows])]
    return SamplesView(
        samples=[
            Sample(source=pair.source, reference=pair.target, output=output)
            for pair, output in zip(rows, outputs, strict=True)
        ]
    )
