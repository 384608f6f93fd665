"""`regard studio`: runs and models in the browser."""

from pathlib import Path

from regard.cli.options import NOTHING, Given, RunsFolder, flags_of, options
from regard.errors import ConfigError
from regard.studio.settings import StudioSettings

NAMES = ("host", "port", "device", "threads", "memory", "allowed_hosts", "browser")
FLAGS = flags_of(StudioSettings, *NAMES, shows_defaults=True)


@options(*FLAGS)
def studio(folder: RunsFolder = Path("runs"), given: Given = NOTHING) -> None:
    """Show runs and models in the browser: training, attention, decoding, words.

    It works offline. Example: regard studio runs --port 8010 --no-browser
    """
    from regard.cli.console import print_line

    try:
        from regard.studio.serve import serve_studio
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"regard studio needs {error.name}, which is not installed; install it with pip install 'regard[serve]'."
        ) from None
    settings = given.settings(StudioSettings).model_copy(update={"runs": folder})
    note = "Ctrl-C ends it, training processes continue"
    serve_studio(settings, lambda address: print_line(f"studio: {address} ({note})"))
