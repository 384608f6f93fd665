"""Options of verbs that train or load a model: data files, pretrained model, preset, seed, machine, precision."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.options import Flag, Given, column, flag_name, flags_of
from regard.config.overrides import parse_overrides
from regard.config.settings import flatten
from regard.data.settings.examples import LabelSource
from regard.data.settings.pairs import PairSource
from regard.data.settings.text import TextSource
from regard.errors import ConfigError
from regard.models.base.settings import ModelSettings
from regard.tasks.settings import LoadSettings, RunSettings
from regard.training.settings import MachineSettings, TrainSettings

if TYPE_CHECKING:
    from regard.pipelines.encoder import Encoder

PAIRS, EXAMPLES, TEXT = "Sentence pairs", "Tables and labeled examples", "Running text"
VALID = "As {}, for validation (default: held out of the training data)."

MACHINE = flags_of(MachineSettings, "device", "threads")
"""The options of every verb that computes."""

COLUMNS = [
    *flags_of(PairSource, "source_column", "target_column", panel=EXAMPLES),
    *(
        replace(each, type=tuple[str, ...], doc="Column or field of the text (default: detected); twice for pairs.")
        for each in flags_of(LabelSource, "text_column", panel=EXAMPLES)
    ),
    *flags_of(LabelSource, "label_column", panel=EXAMPLES),
]
"""The columns of training data; those of --valid-data are the same."""


def _sources() -> dict[str, Flag]:
    (path,), (paths,) = (
        flags_of(LabelSource, "path", panel=EXAMPLES, is_layered=True),
        flags_of(TextSource, "paths", panel=TEXT, is_layered=True),
    )
    train = {
        **{f"data.train.{each.name}": each for each in flags_of(PairSource, "source", "target", panel=PAIRS)},
        "data.train.path": replace(path, name="data"),
        "data.train.paths": replace(paths, name="text"),
    }
    valid = {
        setting.replace("train", "valid"): replace(
            each, name=f"valid_{each.name}", doc=VALID.format(flag_name(each.name))
        )
        for setting, each in train.items()
    }
    return train | valid


def _settings() -> dict[str, Flag]:
    preset, *_ = flags_of(ModelSettings, "preset")
    machine = flags_of(MachineSettings, "device", "threads", "deterministic")
    return {
        **{each.name: each for each in flags_of(RunSettings, "init_from", "seed", "languages")},
        "model.preset": replace(preset, doc="Model preset (see `regard presets`)."),
        **{f"machine.{each.name}": each for each in machine},
    }


RUN_FLAGS = _sources() | _settings()
"""The settings of a run that have an option of their own, with that option."""

RUN = [*RUN_FLAGS.values(), *COLUMNS]
"""The options of a run."""

(MINUTES,) = flags_of(TrainSettings, "minutes")
TIME = [MINUTES, replace(MINUTES, name="hours", doc="The same in hours.")]
"""The options that limit the time of a run."""

PROCESSES = flags_of(MachineSettings, "processes", "max_restarts", panel="Several processes")
"""The options of several processes on one host."""


def time_limit(flags: Mapping[str, Any]) -> dict[str, float]:
    """Return --minutes or --hours as a setting."""
    minutes, hours = flags.get("minutes"), flags.get("hours")
    if minutes is not None and hours is not None:
        raise ConfigError(f"--minutes {minutes:g} and --hours {hours:g} are both given; leave one of them out.")
    limit = minutes if hours is None else 60 * hours
    return {} if limit is None else {"train.minutes": limit}


def label_columns(flags: Mapping[str, Any], prefix: str = "") -> dict[str, str | int]:
    """Return --text-column and --label-column as settings."""
    names, words = [f"{prefix}text_column", f"{prefix}second_column"], flags.get("text_column") or []
    if len(words) > len(names):
        raise ConfigError(f"--text-column {words[-1]}: an example has one or two texts; leave this one out.")
    texts = {key: column(word) for key, word in zip(names, words)}
    label = flags.get("label_column")
    return texts if label is None else texts | {f"{prefix}label_column": column(str(label))}


def machine_overrides(given: Given) -> dict[str, object]:
    """Return --device, --threads and --processes as settings."""
    return {f"machine.{name}": value for name, value in given.values_of(MachineSettings.model_fields).items()}


def run_overrides(words: list[str] | None, flags: Given) -> dict[str, object]:
    """Return the overrides of a run by dotted name: from options, then from key=value words."""
    values = {name: flags.get(flag.name) for name, flag in RUN_FLAGS.items()}
    overrides = {name: value for name, value in values.items() if value is not None}
    words, files = _split_files(words or [], flags)
    if files:
        overrides["data.train.paths"] = [*flags["text"], *files]
    for role in ("train", "valid") if flags.get("valid_data") else ("train",):
        pairs = {f"data.{role}.{name}": flags.get(name) for name in ("source_column", "target_column")}
        overrides |= {name: value for name, value in pairs.items() if value is not None}
        overrides |= label_columns(flags, f"data.{role}.")
    return overrides | dict(flatten(parse_overrides(words)))


def _split_files(words: list[str], flags: Given) -> tuple[list[str], list[str]]:
    """Return the settings, and the further files of a shell-expanded `--text *.txt`."""
    if not flags.get("text") or flags.get("valid_text"):
        return words, []
    files = [word for word in words if "=" not in word and Path(word).exists()]
    return [word for word in words if word not in files], files


def loading_flags(loads: Iterable[str] = ()) -> list[Flag]:
    """Return the options of a verb that loads a model; `loads` are those of only some tasks."""
    return [*MACHINE, *flags_of(LoadSettings, "precision", *sorted(loads), shows_defaults=True)]


def load_model(run: str, given: Given, task: str | None = None) -> Any:
    """Return the pipeline of a model; with a task, one of another task is refused."""
    from regard.tasks.load import load

    return load(run, given.device, task=task, **given.values_of(LoadSettings.model_fields))


def load_text_encoder(run: str, given: Given) -> "Encoder":
    """Return the text encoder of a model of any task."""
    from regard.tasks.load import load_encoder

    return load_encoder(run, given.device, **given.values_of(LoadSettings.model_fields))
