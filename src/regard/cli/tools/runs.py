"""`regard runs`: listing and deleting runs."""

from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from regard.cli.console import show
from regard.cli.options import NOTHING, Given, Json, RunFolder, RunsFolder, flags_of, options
from regard.cli.verb import Verbs
from regard.progress import size_words
from regard.runs.settings import DeleteSettings


class RunsGroup(TyperGroup):
    """A group with a default command: `regard runs FOLDER` is `regard runs list FOLDER`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the default command where none is given."""
        if not args or (args[0] not in self.commands and args[0] not in ("-h", "--help")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


app = Verbs(help="List runs (regard runs [FOLDER]), or delete one.", cls=RunsGroup)


@app.command("list")
def list_(
    folder: RunsFolder = Path("runs"),
    json: Json = False,
) -> None:
    """List the runs in a folder, newest first: task, preset, score, parameters, size, age, state."""
    from regard.runs.store.listing import list_runs

    summaries = list_runs(folder)
    header = ("run", "task", "preset", "score", "parameters", "size", "age", "state")
    reasons = [each.reason for each in summaries if each.reason]
    empty = f"{folder}: there are no runs here yet."
    show(
        json,
        summaries,
        *([(header, [each.cells() for each in summaries], (4, 5, 6)), *reasons] if summaries else [empty]),
    )


@app.command("delete")
@options(*flags_of(DeleteSettings, shows_defaults=True))
def delete(run: RunFolder, given: Given = NOTHING, json: Json = False) -> None:
    """Delete the folder of a run, and nothing else; a run in training is refused."""
    from regard.errors import RunError
    from regard.runs.run import Run
    from regard.runs.store.listing import check_deletable, delete_run, summarize

    chosen = given.settings(DeleteSettings)
    check_deletable(Run(run), chosen.force)
    if not chosen.yes:
        try:
            is_confirmed = typer.confirm(summarize(Run(run)).question, err=True)
        except (typer.Abort, RuntimeError, ValueError):  # standard input may be closed
            raise RunError(f"{run}: not confirmed, so nothing was deleted; --yes deletes without asking.") from None
        if not is_confirmed:
            typer.echo("Nothing was deleted.", err=True)
            raise typer.Exit(1)
    deleted = delete_run(run, chosen.force)
    plain = {"deleted": deleted.path, "bytes": deleted.bytes}
    show(json, plain, f"{run}: deleted, {size_words(deleted.bytes)} freed.")
