"""`regard race`: several models on the same data with the same budget, and a report."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import NOTHING, Given, Json, Overwrite, Quiet, Recipe, SettingWords, flags_of, options
from regard.cli.run_options import RUN, run_overrides
from regard.escaping import one_line, printable
from regard.progress import Bar, Progress
from regard.studies.settings import RaceOptions

if TYPE_CHECKING:
    from rich.console import Console

    from regard.studies.race.folder import Race
    from regard.studies.race.leaderboard import Standing


@options(*flags_of(RaceOptions), *RUN)
def race(
    recipe: Recipe,
    settings: SettingWords = None,
    given: Given = NOTHING,
    out: Annotated[Path | None, typer.Option(help="Race folder (default: races/RECIPE).")] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Race models on the same data, tokenizer, seed and budget; Ctrl-C saves, and the same command resumes.

    Examples: regard race race-miniature --models transformer-tiny,transformer-small --budget 2m
    · regard race language-model --text books/ --models lstm-lm,gpt-tiny --budget 10m
    """
    from regard.cli.console import progress
    from regard.reporting.bars import errors
    from regard.studies.race.entrants import Lineup
    from regard.studies.race.race import race as run_race

    names = [name.strip() for name in (given["models"] or "").split(",") if name.strip()]
    lineup = Lineup(recipe, names, given["vary"], run_overrides(list(settings or []), given))
    if quiet or not errors().is_terminal:
        reporter = progress(quiet)
        finished = run_race(
            lineup, given["budget"], progress=reporter, show=StateLines(reporter), out=out, overwrite=overwrite
        )
    else:
        with live_table() as table:
            finished = run_race(
                lineup, given["budget"], progress=table, show=table.show, out=out, overwrite=overwrite
            )
    print_race(finished, json)


def print_race(race: "Race", as_json: bool) -> None:
    """Print the ranking of a race."""
    from regard.cli.console import print_json, print_line, print_table
    from regard.progress import duration
    from regard.studies.race.disciplines import ranked

    if as_json:
        results = race.results if (race.path / "results.json").is_file() else {}
        kept = ("is_finished", "recipe", "budget", "vary", "set", "members", "waiting", "failed")
        shown = {name: results[name] for name in kept if name in results}
        print_json({"race": str(race.path), "report": str(race.report)} | shown)
    elif race.is_finished or race.report.is_file():
        results = race.results
        columns = results["columns"]
        rows = [
            (
                each["name"],
                *(format(each[column["key"]], column["format"]) for column in columns),
                f"{each['parameters']:,}",
                f"{each['steps']:,}",
                f"{each['times']['tokens_per_second']:,.0f}",
                duration(each["times"]["seconds"]),
            )
            for each in ranked(results)
        ]
        titles = (column["label"] for column in columns)
        header = ("model", *titles, "parameters", "steps", "tokens/s", "training")
        print_table(header, rows, right=range(1, len(header)))
        for name, reason in results["failed"].items():
            print_line(f"{name} failed: {reason}")
        print_line(f"report: {race.report}")


class StateLines:
    """Prints a line when a member's state changes, for pipes and logs."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.states: dict[str, str] = {}

    def __call__(self, standings: Sequence["Standing"]) -> None:
        """Report the members whose state is new."""
        for each in standings:
            if each.state != self.states.get(each.name, "waiting"):
                is_scored = each.state == "finished" and each.score is not None
                score = f", {each.score_name} {each.score:{each.score_format}}" if is_scored else ""
                self.progress.info(f"{each.name}: {each.state}{score}")
            self.states[each.name] = each.state


@contextmanager
def live_table() -> Iterator["LiveTable"]:
    from rich.live import Live

    from regard.reporting.bars import errors

    table = LiveTable(errors())
    with Live(get_renderable=table.render, console=table.console, refresh_per_second=4, transient=True):
        yield table


class LiveTable(Progress):
    """A table of all members that is refreshed, with the current activity below it and messages above it."""

    def __init__(self, console: "Console") -> None:
        self.console = console
        self.standings: Sequence[Standing] = ()
        self.doing = ""

    def info(self, message: str) -> None:
        """Print a line above the table."""
        self.console.print(printable(message), markup=False)

    def warn(self, message: str) -> None:
        """Print a highlighted line."""
        self.console.print(printable(message), style="yellow", markup=False)

    def show(self, standings: Sequence["Standing"]) -> None:
        """Show the members' standings."""
        self.standings = standings

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Show progress in the line below the table."""
        from regard.reporting.bars import ElapsedColumn

        clock = ElapsedColumn(total, done)
        table = self

        class Line(Bar):
            def advance(self, amount: int = 1, **facts: float) -> None:
                clock.done += amount
                whole = "?" if total is None else f"{total:,}"
                table.doing = f"{title} {clock.done:,}/{whole}  {clock.status(facts)}"

        self.doing = title
        try:
            yield Line()
        finally:
            self.doing = ""

    def render(self) -> Any:
        """Return the table as it is now."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        from regard.cli.console import cell
        from regard.progress import duration

        table = Table(box=None, pad_edge=False, header_style="bold")
        score = self.standings[0].score_name if self.standings else "score"
        for number, name in enumerate(("model", "state", "step", "loss", score, "tokens/s", "training")):
            table.add_column(cell(name), justify="left" if number < 2 else "right")
        for each in self.standings:
            table.add_row(
                cell(each.name),
                cell(each.state),
                f"{each.step:,}/{each.steps:,}" if each.steps else "",
                f"{each.loss:.3f}" if each.loss is not None else "",
                f"{each.score:{each.score_format}}" if each.score is not None else "",
                f"{each.tokens_per_second:,.0f}" if each.tokens_per_second is not None else "",
                duration(each.seconds) if each.seconds is not None else "",
            )
        return Group(*([table] if self.standings else []), Text(one_line(self.doing), style="dim"))
