"""Training from the studio: a form made of the settings' schema; runs as processes of their own."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Literal, get_args

from pydantic import Field

from regard import registry
from regard.config.overrides import parse_overrides
from regard.errors import ConfigError, RunError
from regard.runs.planning.explain import ExplainedSetting, explain_recipe
from regard.runs.planning.recipes import shipped
from regard.runs.run import Run
from regard.runs.store.process import is_alive
from regard.studio.messages import StudioMessage
from regard.studio.settings import StudioSettings
from regard.studio.store import run_path
from regard.studio.views.runs import RunRequest
from regard.tasks.contract import find_task

LOGS = ".studio"
"""Folder of the output of training processes, in the folder of runs."""
NAME = re.compile(r"[\w][\w.+-]{0,99}(/[\w][\w.+-]{0,99}){0,3}")
LAST = 2000
"""Characters of a log that are shown."""


class RecipesRequest(StudioMessage):
    """All recipes and tasks."""


class RecipeLine(StudioMessage):
    """A recipe or task that can be trained by name."""

    name: str
    task: str
    about: str
    data_flags: str


class RecipesView(StudioMessage):
    """The recipes, then the tasks, which need data."""

    recipes: list[RecipeLine]


class FormRequest(StudioMessage):
    """A recipe, and settings by dotted name as text."""

    recipe: str
    values: dict[str, str] = Field(default_factory=dict)


class FormField(StudioMessage):
    """A setting: its value for this run, the reason for it, its meaning, type and choices."""

    name: str
    value: str
    source: str
    doc: str
    type: str
    choices: list[str]
    is_required: bool


class FormView(StudioMessage):
    """All settings of a run, planned values with their reasons."""

    fields: list[FormField]
    command: str
    """The same as a command."""


class StartRequest(StudioMessage):
    """A recipe, settings by dotted name as text, and the path of the run below the folder of runs."""

    recipe: str
    values: dict[str, str]
    run: str


class Started(StudioMessage):
    """A process that trains a run."""

    run: str
    pid: int


class Stopped(StudioMessage):
    """The state of a run that was asked to stop."""

    run: str
    state: Literal["stopping", "not running"]


class LogView(StudioMessage):
    """The end of a training process' output."""

    text: str


def show_recipes(settings: StudioSettings, request: RecipesRequest) -> RecipesView:
    """Return what can be trained by name."""
    lines = []
    for name, recipe in shipped().items():
        task = find_task(str(recipe.values["task"]))
        lines.append(RecipeLine(name=name, task=task.name, about=task.wording.noun, data_flags=""))
    for task in registry.tasks():
        about, flags = task.wording.noun, task.wording.data_flags
        lines.append(RecipeLine(name=task.name, task=task.name, about=about, data_flags=flags))
    return RecipesView(recipes=lines)


def _check_recipe(name: str) -> None:
    """Refuse what is no shipped recipe or task: the studio reads no recipe files."""
    if name not in shipped() and not registry.has_task(name):
        raise ConfigError(f'recipe: there is no recipe or task "{name[:60]}"; choose one of the list.')


def _words(values: dict[str, str]) -> list[str]:
    if bad := next((name for name in values if not re.fullmatch(r"[a-z_][\w.-]*", name)), None):
        raise ConfigError(f'settings: "{bad[:60]}" is not the name of a setting.')
    return [f"{name}={value}" for name, value in values.items() if value != ""]


def show_form(settings: StudioSettings, request: FormRequest) -> FormView:
    """Return the settings that a run would have."""
    _check_recipe(request.recipe)
    words = _words(request.values)
    parse_overrides(words)
    rows = explain_recipe(request.recipe, words)
    return FormView(
        fields=[_field(each) for each in rows], command=" ".join(["regard train", request.recipe, *words])
    )


def _field(row: ExplainedSetting) -> FormField:
    kind = row.field.type if row.field else str
    parts = [kind, *get_args(kind)]
    choices = [str(each) for part in parts if getattr(part, "__origin__", None) is Literal for each in get_args(part)]
    value = row.value
    shown = "" if value is None else ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    is_required = "(required)" in shown
    return FormField(
        name=row.name,
        value="" if is_required else shown,
        source=row.source,
        doc=row.doc,
        type=row.field.type_words if row.field else "",
        choices=choices,
        is_required=is_required,
    )


def start_run(settings: StudioSettings, request: StartRequest) -> Started:
    """Start a run in a process of its own, which the studio's end does not touch."""
    _check_recipe(request.recipe)
    words = _words(request.values)
    path = _new_path(settings, request.run)
    if Run(path).exists:
        raise RunError(f"{request.run}: there is a run of this name already; choose another name, or resume it.")
    return _process(settings, request.run, ["train", request.recipe, *words, "--out", str(path)])


def resume_run(settings: StudioSettings, request: RunRequest) -> Started:
    """Resume a run in a process of its own."""
    path = run_path(settings.runs, request.run)
    if is_alive(Run(path).record.process) and Run(path).record.state in ("running", "preparing"):
        raise RunError(f"{request.run}: it is being trained right now.")
    return _process(settings, request.run, ["train", "--resume", str(path)])


def stop_run(settings: StudioSettings, request: RunRequest) -> Stopped:
    """Ask the process of a run to save and stop, as Ctrl-C does."""
    record = Run(run_path(settings.runs, request.run)).record
    pid = record.process.pid
    if record.state not in ("running", "preparing") or pid is None or not is_alive(record.process):
        return Stopped(run=request.run, state="not running")
    os.kill(pid, signal.SIGINT)
    return Stopped(run=request.run, state="stopping")


def show_log(settings: StudioSettings, request: RunRequest) -> LogView:
    """Return the end of what the training process of a run has printed."""
    path = _log(settings, request.run)
    text = path.read_text(encoding="utf-8", errors="replace")[-LAST:] if path.is_file() else ""
    return LogView(text=text)


def _new_path(settings: StudioSettings, name: str) -> Path:
    if not NAME.fullmatch(name):
        raise ConfigError(f'run: "{name[:60]}" is not a name for a run; use characters, digits and . _ - alone.')
    return run_path(settings.runs, name)


def _log(settings: StudioSettings, name: str) -> Path:
    run_path(settings.runs, name)
    return settings.runs / LOGS / f"{name.replace('/', '--')}.log"


def _process(settings: StudioSettings, name: str, words: list[str]) -> Started:
    """Start the command line in a session of its own."""
    log = _log(settings, name)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "regard", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _reap(process)
    return Started(run=name, pid=process.pid)


def _reap(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a process in a thread, so that it does not stay as a zombie."""
    Thread(target=process.wait, daemon=True).start()
