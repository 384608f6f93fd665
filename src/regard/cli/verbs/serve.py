"""`regard serve` and `studio`: models over the APIs that other programs call, and runs in the browser."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import QUIET, Given, RunsFolder, flags_of, options
from regard.errors import ConfigError
from regard.server.settings import ServerSettings
from regard.studio.settings import StudioSettings

STUDIO = ("host", "port", "device", "threads", "memory", "allowed_hosts", "browser")
"""The settings of the studio that have an option."""


@options(QUIET, ServerSettings)
def serve(
    given: Given,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Folders of runs or checkpoints, hf:DIR, or files of word vectors; NAME=PATH names one.",
        ),
    ],
) -> None:
    """Serve models by the APIs of OpenAI, LibreTranslate and Hugging Face.

    Ctrl-C stops after open requests.

    Examples: regard serve runs/gpt · regard serve de-en=runs/multi30k en-de=runs/back --port 8080 · then
    curl localhost:8000/v1/models, or open http://127.0.0.1:8000/docs.
    """
    settings, serving = given.settings(ServerSettings), _installed("regard.server.serving", "serve")
    raise typer.Exit(serving.serve_runs(settings, runs, None if given["quiet"] else _log))


@options(*flags_of(StudioSettings, *STUDIO, shows_defaults=True))
def studio(given: Given, folder: RunsFolder = Path("runs")) -> None:
    """Show runs and models in the browser: training, attention, decoding, words.

    It works offline. Example: regard studio runs --port 8010 --no-browser
    """
    serving = _installed("regard.studio.serve", "studio")
    settings = given.settings(StudioSettings).model_copy(update={"runs": folder})
    note = "Ctrl-C ends it, training processes continue"
    serving.serve_studio(settings, lambda address: typer.echo(f"studio: {address} ({note})"))


def _installed(module: str, verb: str) -> Any:
    """Return a module of a verb; raise where a library that it needs is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"regard {verb} needs {error.name}, which is not installed; install it with pip install 'regard[serve]'."
        ) from None


def _log(line: str) -> None:
    typer.echo(line, err=True)
