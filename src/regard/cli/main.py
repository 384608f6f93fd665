"""The command `regard`: one module per verb; all logic is in the library."""

import errno
import os
import re
import sys
from typing import Annotated, Any

import typer

from regard.cli.streams import prepare_streams, print_error, silence
from regard.cli.verb import ListedGroup, Verbs
from regard.errors import RegardError
from regard.processes import end, is_reporter, quiet_torch
from regard.version import __version__

UsageError: Any = typer.BadParameter.__base__  # of the click that typer bundles

INTERRUPTED = 130
NO_MEMORY = re.compile("not enough memory|can't allocate memory|out of memory", re.IGNORECASE)
"""Torch's messages for a failed allocation."""

app = Verbs(
    name="regard",
    cls=ListedGroup,
    help="Train NLP models on your own text, evaluate, inspect and use them: from word2vec to BERT and GPT.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"regard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; a user error is one sentence on standard error and exit code 2."""
    # Idle OpenMP threads spin, which starves the working thread as soon as another program needs a core;
    # a short spin costs nothing on an idle machine. Read when torch loads.
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    quiet_torch()
    prepare_streams()
    sentence, code = _outcome()
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output has closed it
        silence(sys.stdout)
        code = code or 1
    except OSError as error:
        silence(sys.stdout)
        sentence, code = sentence or f"standard output: {_reason(error)}", code or 2
    if sentence and is_reporter():
        print_error(f"regard: {sentence}")
    end(code)


def _outcome() -> tuple[str, int]:
    """Run the command line and return its error message ("": none) and exit code."""
    try:
        code = app(standalone_mode=False)
        # 130 is typer's code for Ctrl-C; a run that could be saved has printed a message of its own.
        return ("stopped.", INTERRUPTED) if code == INTERRUPTED else ("", code if isinstance(code, int) else 0)
    except SystemExit as stop:
        return "", stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            return "", 2
        where = error.ctx.command_path if error.ctx else "regard"
        return f"{error.format_message().rstrip('.')}; see {where} --help.", 2
    except (typer.Abort, KeyboardInterrupt):
        return "stopped.", INTERRUPTED
    except BrokenPipeError:
        silence(sys.stdout)
        return "", 1
    except RegardError as error:
        return str(error), 2
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not NO_MEMORY.search(str(error)):
            raise
        return "There is not enough memory; use a smaller model or smaller batches.", 2
    except OSError as error:
        if error.filename is None and error.errno is None:
            raise
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return f"{where}{_reason(error)}", 2


def _reason(error: OSError) -> str:
    way_out = "free some space" if error.errno == errno.ENOSPC else "check the path and its permissions"
    return f"{error.strerror}; {way_out}."


if __name__ == "__main__":
    main()
