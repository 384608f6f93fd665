"""`regard serve`: models over the APIs that other programs call."""

from typing import Annotated

import typer

from regard.cli.options import NOTHING, Given, Quiet, flags_of, options
from regard.errors import ConfigError
from regard.server.settings import ServerSettings


@options(*flags_of(ServerSettings, shows_defaults=True))
def serve(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Folders of runs or checkpoints, hf:DIR, or files of word vectors; NAME=PATH names one.",
        ),
    ],
    given: Given = NOTHING,
    quiet: Quiet = False,
) -> None:
    """Serve models by the APIs of OpenAI, LibreTranslate and Hugging Face.

    Ctrl-C stops after open requests.

    Examples: regard serve runs/gpt · regard serve de-en=runs/multi30k en-de=runs/back --port 8080 · then
    curl localhost:8000/v1/models, or open http://127.0.0.1:8000/docs.
    """
    settings = given.settings(ServerSettings)
    try:
        from regard.server.serving import serve_runs
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"regard serve needs {error.name}, which is not installed; install it with pip install 'regard[serve]'."
        ) from None
    raise typer.Exit(serve_runs(settings, runs, None if quiet else _say))


def _say(line: str) -> None:
    typer.echo(line, err=True)
