"""Loading of a model by the options of a verb: device, threads, precision, int8 weights, further members."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from regard.cli.options import Flag, Given, flags_of
from regard.cli.run_options import MACHINE
from regard.tasks.settings import LoadSettings

if TYPE_CHECKING:
    from regard.pipelines.encoder import Encoder


def loading_flags(loads: Iterable[str] = ()) -> list[Flag]:
    """Return the options of a verb that loads a model; `loads` are those of only some tasks."""
    return [*MACHINE, *flags_of(LoadSettings, "precision", *sorted(loads), shows_defaults=True)]


def load_model(run: str, given: Given, task: str | None = None) -> Any:
    """Return the pipeline of a model; with a task, one of another task is refused."""
    from regard.tasks.load import load
    from regard.training.device.machine import use_threads

    use_threads(given.get("threads"))
    return load(run, given.get("device") or "auto", task=task, **chosen(given))


def load_text_encoder(run: str, given: Given) -> "Encoder":
    """Return the text encoder of a model of any task."""
    from regard.tasks.load import load_encoder
    from regard.training.device.machine import use_threads

    use_threads(given.get("threads"))
    return load_encoder(run, given.get("device") or "auto", **chosen(given))


def chosen(given: Given) -> dict[str, Any]:
    """Return the choices of loading that were given."""
    return given.values_of(LoadSettings.model_fields)
