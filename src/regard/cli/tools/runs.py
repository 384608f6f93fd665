"""`regard runs`, `card`, `average` and `verify-resume`: what is done with runs when they are trained."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from regard.cli.console import use_it
from regard.cli.options import JSON, QUIET, Given, Recipe, RunFolder, RunsFolder, SettingWords, options
from regard.cli.run_options import RUN, run_overrides
from regard.cli.verb import Verbs
from regard.progress import size_words
from regard.runs.settings import AverageSettings, DeleteSettings, VerifySettings


class RunsGroup(TyperGroup):
    """A group with a default command: `regard runs FOLDER` is `regard runs list FOLDER`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the default command where none is given."""
        if not args or (args[0] not in self.commands and args[0] not in ("-h", "--help")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


app = Verbs(help="List runs (regard runs [FOLDER]), or delete one.", cls=RunsGroup)


@app.command("list")
@options(JSON)
def list_(given: Given, folder: RunsFolder = Path("runs")) -> None:
    """List the runs in a folder, newest first: task, preset, score, parameters, size, age, state."""
    from regard.runs.store.listing import list_runs

    summaries = list_runs(folder)
    header = ("run", "task", "preset", "score", "parameters", "size", "age", "state")
    reasons = [each.reason for each in summaries if each.reason]
    table = (header, [each.cells() for each in summaries], (4, 5, 6))
    given.show(summaries, *([table, *reasons] if summaries else [f"{folder}: there are no runs here yet."]))


@app.command("delete")
@options(JSON, DeleteSettings)
def delete(given: Given, run: RunFolder) -> None:
    """Delete the folder of a run, and nothing else; a run in training is refused."""
    from regard.errors import RunError
    from regard.runs.run import Run
    from regard.runs.store.listing import check_deletable, delete_run, summarize

    chosen = given.settings(DeleteSettings)
    check_deletable(Run(run), chosen.force)
    if not chosen.yes:
        summary = summarize(Run(run))
        score = f", {summary.score.metric} {summary.score.value:.2f}" if summary.score else ""
        try:
            question = f"Delete {run} ({summary.task}, {summary.state}{score}, {size_words(summary.bytes)})?"
            is_confirmed = typer.confirm(question, err=True)
        except (typer.Abort, RuntimeError, ValueError):  # standard input may be closed
            raise RunError(f"{run}: not confirmed, so nothing was deleted; --yes deletes without asking.") from None
        if not is_confirmed:
            typer.echo("Nothing was deleted.", err=True)
            raise typer.Exit(1)
    deleted = delete_run(run, chosen.force)
    plain = {"deleted": deleted.path, "bytes": deleted.bytes}
    given.show(plain, f"{run}: deleted, {size_words(deleted.bytes)} freed.")


@options(JSON)
def card(given: Given, run: RunFolder) -> None:
    """Rewrite a run's card (README.md) and curves.png from the files in its folder."""
    from regard.runs.reports.curves import CURVES
    from regard.runs.run import Run

    path, curves = Run(run).card(), Path(run) / CURVES
    given.show({"card": path, "curves": curves}, f"written: {path}, {curves}")


@options(JSON, AverageSettings)
def average(
    given: Given,
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="A run, or checkpoints or runs (their best).")],
) -> None:
    """Average the weights of checkpoints: those of a run, or of several.

    train.keep_last and train.keep_best set how many a run keeps.
    """
    from regard.runs.average import average as average_run
    from regard.runs.scores.model import task_of

    chosen = given.settings(AverageSettings)
    averaged = average_run(runs, chosen.out, chosen.count, chosen.of)
    names = ", ".join(folder.name for folder in averaged.checkpoints)
    line = f"{averaged.path}: the mean of {len(averaged.checkpoints)} checkpoints ({names})."
    given.show(averaged, line, use_it(task_of(averaged.path).operations[0], averaged.path))


@options(QUIET, JSON, *RUN, VerifySettings)
def verify_resume(given: Given, recipe: Recipe, settings: SettingWords = None) -> None:
    """Train with and without an interruption and compare the results.

    On a CPU any difference is exit code 1.
    """
    from regard.runs.planning.recipes import find_recipe
    from regard.runs.verify import verify_resume as verify

    steps = given.settings(VerifySettings).steps
    check = verify(find_recipe(recipe), run_overrides(settings, given), steps, given.progress)
    rows = [(name, f"{getattr(check, name):.3g}") for name in ("weights", "optimizer", "losses")]
    verdict = "bit-identical" if check.is_exact else "not bit-identical"
    last = f"{check.steps} steps, interrupted after {check.interrupted_at}, on {check.device}: {verdict}."
    given.show(vars(check) | {"is_exact": check.is_exact}, (("state", "largest difference"), rows, [1]), last)
    if check.device == "cpu" and not check.is_exact:
        raise typer.Exit(1)
