"""Races and transfer studies of the folder, from their own files, for the same charts as runs."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from regard.config.records import read_record
from regard.errors import RegardError, RunError
from regard.runs.reports.curves import curve_panels
from regard.studies.race.any_task import discipline
from regard.studies.race.folder import Race
from regard.studies.race.records import MeasuredRecord, MeasuredTranslator, RaceResults
from regard.studies.transfer.folder import Transfer
from regard.studies.transfer.records import ResultRecord, TransferResults
from regard.studio.messages import Floats, StudioMessage
from regard.studio.settings import StudioSettings
from regard.studio.store import run_path
from regard.studio.views.measurements import MeasuredPanel, measured_panels, panels_over_time
from regard.studio.views.runs import Line, Panel
from regard.tasks.contract import find_task
from regard.training.reports.metrics_log import METRICS, read_metrics

Kind = Literal["race", "transfer"]


class StudiesRequest(StudioMessage):
    """All studies."""


class StudyLine(StudioMessage):
    """A race or transfer study in the list."""

    name: str
    kind: Kind
    is_finished: bool
    reason: str | None
    """Why it cannot be read."""


class StudiesView(StudioMessage):
    """The studies below the folder of runs."""

    studies: list[StudyLine]


class StudyRequest(StudioMessage):
    """A study, by its path below the folder of runs."""

    study: str


class RaceColumn(StudioMessage):
    """A metric of every member."""

    key: str
    label: str
    format: str
    best: str


class RaceMember(StudioMessage):
    """A member of a race with its metrics, by column."""

    name: str
    run: str
    parameters: int
    steps: int
    seconds: float
    tokens_per_second: float
    values: list[float]


class RaceAlignment(StudioMessage):
    """The cross-attention of a member for the sentence of the race."""

    member: str
    source: list[str]
    target: list[str]
    weights: Floats


class RaceSample(StudioMessage):
    """A sentence of the test set with its reference, and what each member makes of it."""

    source: str
    reference: str
    outputs: list[str]


class PublishedScore(StudioMessage):
    """The BLEU of a published model."""

    name: str
    bleu: float


class PublishedScores(StudioMessage):
    """Published scores, independent of the race's data: only the order is comparable."""

    title: str
    about: str
    scores: list[PublishedScore]


class RaceView(StudioMessage):
    """A race: its table, curves of all members, and measurements, as in its report."""

    name: str
    recipe: str
    budget: str
    columns: list[RaceColumn]
    members: list[RaceMember]
    failed: dict[str, str]
    over_time: list[MeasuredPanel]
    """Validation by training time."""
    panels: list[Panel]
    """Curves of training by step, a line for each member."""
    measured: list[MeasuredPanel]
    """Loss or BLEU by length, gradient reach, times by length."""
    alignments: list[RaceAlignment]
    samples: list[RaceSample]
    published: PublishedScores | None


class TransferCell(StudioMessage):
    """The mean accuracy of a method with some examples."""

    accuracy: float | None
    spread: float | None
    seeds: int


class TransferOutcome(StudioMessage):
    """One run of a method."""

    size: int
    seed: int
    accuracy: float
    seconds: float


class TransferMethod(StudioMessage):
    """A row of the table."""

    method: str
    trainable_parameters: int | None
    cells: list[TransferCell]
    runs: list[TransferOutcome]


class TransferView(StudioMessage):
    """A transfer study: accuracy by method and number of examples."""

    name: str
    done: int
    of: int
    sizes: list[int]
    """Numbers of examples; all of them stand as their count."""
    methods: list[TransferMethod]
    baseline: float | None
    """The accuracy of always choosing the most frequent label."""
    failed: dict[str, str]


def show_studies(settings: StudioSettings, request: StudiesRequest) -> StudiesView:
    """Return the races and transfer studies of the folder."""
    return StudiesView(studies=[_line(settings.runs, *each) for each in _find(settings.runs)])


def _find(folder: Path) -> Iterator[tuple[Kind, Path]]:
    for path, names, files in os.walk(folder):
        kinds: tuple[Kind, ...] = ("race", "transfer")
        for kind in kinds:
            if f"{kind}.json" in files:
                names.clear()
                yield kind, Path(path)
        names[:] = sorted(name for name in names if not name.startswith("."))


def _line(folder: Path, kind: Kind, path: Path) -> StudyLine:
    is_finished, reason = False, None
    try:
        results = (Race(path) if kind == "race" else Transfer(path)).results
        is_finished = bool(results.get("is_finished"))
    except RegardError as error:
        reason = str(error)
    name = path.relative_to(folder).as_posix()
    return StudyLine(name=name, kind=kind, is_finished=is_finished, reason=reason)


def show_race(settings: StudioSettings, request: StudyRequest) -> RaceView:
    """Return a race."""
    race = Race(run_path(settings.runs, request.study))
    record, results = race.record, RaceResults.model_validate(race.results)
    members = []
    for each in results.members:
        values = each.model_extra or {}
        members.append(
            RaceMember(
                name=each.name,
                run=f"{request.study}/runs/{each.name}",
                parameters=each.parameters,
                steps=each.steps,
                seconds=each.times.seconds,
                tokens_per_second=each.times.tokens_per_second,
                values=[float(values[column.key]) for column in results.columns],
            )
        )
    columns = [RaceColumn(key=c.key, label=c.label, format=c.format, best=c.best) for c in results.columns]
    measured = {each.name: _measured(race, each.name) for each in members}
    return RaceView(
        name=request.study,
        recipe=record.asked.recipe,
        budget=record.asked.budget,
        columns=columns,
        members=members,
        failed=results.failed,
        over_time=panels_over_time({each.name: each.curve for each in results.members}),
        panels=_curves(race, [each.name for each in members]),
        measured=measured_panels(measured),
        alignments=[
            RaceAlignment(
                member=name,
                source=each.alignment.source,
                target=each.alignment.target,
                weights=Floats.of(each.alignment.weights),
            )
            for name, each in measured.items()
            if isinstance(each, MeasuredTranslator) and each.alignment
        ],
        samples=_samples(measured),
        published=_published(results),
    )


def _published(results: RaceResults) -> PublishedScores | None:
    if (published := results.published) is None:
        return None
    scores = [PublishedScore(name=each.name, bleu=each.bleu) for each in published.rungs]
    return PublishedScores(title=published.title, about=published.about, scores=scores)


def _measured(race: Race, member: str) -> MeasuredRecord | None:
    """Return the measurements of a member; None where its race was stopped before they were made."""
    schema = discipline(find_task(race.run(member).record.task)).schema
    try:
        return read_record(race.measures(member), schema, RunError, "the measurements of a member")
    except FileNotFoundError:
        return None


def _samples(measured: Mapping[str, MeasuredRecord | None]) -> list[RaceSample]:
    """Return the sentences that all members have translated."""
    own = [each.samples for each in measured.values() if isinstance(each, MeasuredTranslator)]
    if len(own) < len(measured):
        return []
    return [
        RaceSample(source=row[0].source, reference=row[0].reference, outputs=[each.output for each in row])
        for row in zip(*own, strict=False)
    ]


def _curves(race: Race, names: list[str]) -> list[Panel]:
    """Return the charts of a run with a line for each member: of validation where there is one."""
    lines: dict[str, list[Line]] = {}
    for name in names:
        run = race.run(name)
        for panel in curve_panels(read_metrics(run.path / METRICS), find_task(run.record.task)):
            steps, values = panel.lines.get("valid") or next(iter(panel.lines.values()))
            lines.setdefault(panel.title, []).append(Line(name=name, steps=steps, values=values))
    return [Panel(title=title, lines=each) for title, each in lines.items()]


def show_transfer(settings: StudioSettings, request: StudyRequest) -> TransferView:
    """Return a transfer study."""
    results = TransferResults.model_validate(Transfer(run_path(settings.runs, request.study)).results)
    methods = [
        TransferMethod(
            method=row.method,
            trainable_parameters=row.trainable_parameters,
            cells=[TransferCell(accuracy=c.accuracy, spread=c.spread, seeds=c.seeds) for c in row.by_size],
            runs=[_outcome(c, results) for c in results.cells if c.method == row.method],
        )
        for row in results.table
    ]
    return TransferView(
        name=request.study,
        done=results.done,
        of=results.of,
        sizes=[results.train_examples if size is None else size for size in results.sizes],
        methods=methods,
        baseline=max((each.majority_baseline for each in results.cells), default=None),
        failed=results.failed,
    )


def _outcome(cell: ResultRecord, results: TransferResults) -> TransferOutcome:
    size = results.train_examples if cell.size is None else cell.size
    return TransferOutcome(size=size, seed=cell.seed, accuracy=cell.accuracy, seconds=cell.seconds)
