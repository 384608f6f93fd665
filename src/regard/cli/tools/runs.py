"""`regard runs`: what was trained, and a run deleted safely."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from regard.cli.options import Json
from regard.cli.verb import Verbs


class Listing(TyperGroup):
    """A group whose first word may be a folder: `regard runs FOLDER` is `regard runs list FOLDER`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in the verb that was left out."""
        if not args or (args[0] not in self.commands and args[0] not in ("-h", "--help")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


app = Verbs(help="List what was trained (regard runs [FOLDER]), or delete a run.", cls=Listing)


@app.command("list")
def list_(
    folder: Annotated[Path, typer.Argument(help="Where to look; inner folders too.")] = Path("runs"),
    json: Json = False,
) -> None:
    """List the runs in a folder, the newest first: task, preset, score, parameters, size, age, state."""
    from regard.cli.console import print_json, print_line, print_table
    from regard.runs.store.listing import list_runs

    found = list_runs(folder)
    if json:
        print_json(found)
        return
    if not found:
        print_line(f"{folder}: there are no runs here yet.")
        return
    rows = [
        (
            str(each.path),
            each.task or "",
            each.preset or "",
            f"{each.score.metric} {each.score.value:.2f} on {each.score.set}" if each.score else "",
            f"{each.parameters:,}" if each.parameters is not None else "",
            size(each.bytes),
            age(each.age_seconds) if each.age_seconds is not None else "",
            each.state,
        )
        for each in found
    ]
    header = ("run", "task", "preset", "score", "parameters", "size", "age", "state")
    print_table(header, rows, right=(4, 5, 6))
    for each in found:
        if each.reason:
            print_line(each.reason)


@app.command("delete")
def delete(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also a run that may be in training where it cannot be seen from here.")
    ] = False,
    json: Json = False,
) -> None:
    """Delete a run: its own folder and nothing else, never one that is being trained."""
    from regard.cli.console import print_json, print_line
    from regard.errors import RunError
    from regard.runs.store.folder import Run
    from regard.runs.store.listing import check_deletable, delete_run, summarize

    check_deletable(Run(run), force)
    if not yes:
        about = summarize(Run(run))
        score = f", {about.score.metric} {about.score.value:.2f}" if about.score else ""
        try:
            question = f"Delete {run} ({about.task}, {about.state}{score}, {size(about.bytes)})?"
            is_meant = typer.confirm(question, err=True)
        except (typer.Abort, RuntimeError, ValueError):  # standard input may be closed
            raise RunError(f"{run}: nobody answered, so nothing was deleted; --yes deletes without asking.") from None
        if not is_meant:
            typer.echo("Nothing was deleted.", err=True)
            raise typer.Exit(1)
    gone = delete_run(run, force)
    if json:
        print_json({"deleted": gone.path, "bytes": gone.bytes})
    else:
        print_line(f"{run} is deleted, {size(gone.bytes)} are free again.")


def size(count: float) -> str:
    """Write a number of bytes as people do."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if count >= 10 or unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def age(seconds: float) -> str:
    """Write how long ago something was, in its largest unit."""
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(max(seconds, 0))} s"
