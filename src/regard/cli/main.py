"""The command `regard`: one verb a file, no logic that another caller could want."""

import os
import sys
from typing import Annotated

import typer

from regard.cli import bleu, config, data, evaluate, presets, quickstart, recipes, score, tokenizer, train, translate
from regard.errors import RegardError
from regard.version import __version__

app = typer.Typer(
    name="regard",
    help="Train, look inside and use models of text: from parallel sentences to a translator in one command.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("quickstart")(quickstart.quickstart)
app.command("train")(train.train)
app.command("translate")(translate.translate)
app.command("evaluate")(evaluate.evaluate)
app.command("score")(score.score)
app.command("bleu")(bleu.bleu)
app.add_typer(tokenizer.app, name="tokenizer")
app.command("recipes")(recipes.recipes)
app.command("presets")(presets.presets)
app.add_typer(config.app, name="config")
app.add_typer(data.app, name="data")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"regard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; a user's mistake is one sentence on standard error and exit code 2."""
    # OpenMP's threads spin while they wait, which starves the thread that works as soon as another program wants
    # a core; a short spin loses nothing on an idle machine. Read when torch loads.
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    try:
        app()
    except RegardError as error:
        typer.echo(f"regard: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        if error.filename is None and error.errno is None:
            raise
        where = f"{error.filename}: " if error.filename else ""
        typer.echo(f"regard: {where}{error.strerror}; free some space or check the permissions.", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
