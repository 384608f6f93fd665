"""`regard transfer`: accuracy by pretrained model and number of training examples."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import NOTHING, Given, Json, Overwrite, Quiet, SettingWords, flags_of, options
from regard.cli.run_options import COLUMNS, MACHINE, label_columns
from regard.cli.verbs.race import LiveTable
from regard.progress import Progress
from regard.studies.settings import TransferOptions

if TYPE_CHECKING:
    from regard.studies.transfer.folder import Transfer
    from regard.studies.transfer.transfer import TransferStudy


@options(*flags_of(TransferOptions, shows_defaults=True), *COLUMNS[2:], *MACHINE)
def transfer(
    settings: SettingWords = None,
    given: Given = NOTHING,
    out: Annotated[Path | None, typer.Option(help="Folder of the transfer study (default: transfers/DATA).")] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare pretrained models on the same labeled texts; Ctrl-C saves, and the same command resumes.

    Example: regard transfer --data reviews.csv --methods scratch,bert-tuned --bert runs/bert --sizes 100,all
    """
    from regard.cli.console import progress
    from regard.reporting.bars import errors
    from regard.studies.transfer.transfer import transfer as run_transfer

    study = _study(given, list(settings or []))
    if quiet or not errors().is_terminal:
        reporter = progress(quiet)
        finished = run_transfer(study, progress=reporter, show=ResultLines(reporter), out=out, overwrite=overwrite)
    else:
        with _live_table() as table:
            finished = run_transfer(study, progress=table, show=table.update, out=out, overwrite=overwrite)
    print_transfer(finished, json)


def _study(given: Given, words: list[str]) -> "TransferStudy":
    from regard.config.overrides import parse_overrides
    from regard.config.resolve import resolve
    from regard.errors import ConfigError
    from regard.studies.transfer.transfer import TransferStudy

    columns = label_columns(given)
    if columns and given["data"] is None:
        raise ConfigError("--text-column and --label-column are for --data; leave them out.")
    if given["test_data"] and given["data"] is None:
        raise ConfigError("--test-data belongs to --data; give that too.")
    chosen = resolve(TransferOptions, given.layers(TransferOptions.model_fields)).settings
    machine = {f"machine.{name}": value for name, value in given.values_of(["device", "threads"]).items()}
    source = lambda path: None if path is None else {"path": path} | columns
    split = lambda words: [word.strip() for word in words.split(",") if word.strip()]
    named = {name: split(given[name]) for name in ("methods", "sizes") if given[name] is not None}
    return TransferStudy(
        source(chosen.data),
        source(chosen.test_data),
        seeds=chosen.seeds,
        pretrained={name: given[name] for name in ("vectors", "elmo", "bert")},
        overrides=parse_overrides(words) | machine,
        **named,
    )


def print_transfer(study: "Transfer", as_json: bool) -> None:
    """Print the accuracies of a transfer study."""
    from regard.cli.console import print_json, print_line, print_table

    results = study.results
    if as_json:
        print_json({"transfer": str(study.path), "report": str(study.report)} | results)
    else:
        header, rows = _rows(results)
        print_table(header, rows, right=range(1, len(header)))
        for name, reason in results["failed"].items():
            print_line(f"{name} failed: {reason}")
        seeds = "1 seed" if results["seeds"] == 1 else f"{results['seeds']} seeds"
        print_line(f"accuracy % (mean ± deviation of {seeds}); report: {study.report}")


def _rows(results: dict[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header and the rows of the printed table."""
    from regard.studies.transfer.report import accuracy_words, size_name

    header = ("method", *(size_name(size, results) for size in results["sizes"]), "seconds", "trainable parameters")
    rows = []
    for row in results["table"]:
        seconds = [each["seconds"] for each in row["by_size"] if each["seconds"] is not None]
        trainable = row["trainable_parameters"]
        rows.append(
            (
                row["method"],
                *(accuracy_words(each) for each in row["by_size"]),
                f"{seconds[-1]:.1f}" if seconds else "",
                f"{trainable:,}" if trainable is not None else "",
            )
        )
    return header, rows


class ResultLines:
    """Prints a line when a run has ended, for pipes and logs."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.done = 0

    def __call__(self, results: dict[str, Any]) -> None:
        """Report results with more runs than before."""
        if results["done"] > self.done:
            self.done = results["done"]
            _, rows = _rows(results)
            self.progress.info(f"{results['done']} of {results['of']}: " + "; ".join(" ".join(row) for row in rows))


class TransferTable(LiveTable):
    """The table of accuracies, refreshed whenever a run has ended, with the current activity below it."""

    def __init__(self, console: Any) -> None:
        super().__init__(console)
        self.results: dict[str, Any] | None = None

    def update(self, results: dict[str, Any]) -> None:
        """Show newer results."""
        self.results = results

    def render(self) -> Any:
        """Return the table as it is now."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        from regard.cli.console import cell
        from regard.escaping import one_line

        doing = Text(one_line(self.doing), style="dim")
        if self.results is None:
            return doing
        header, rows = _rows(self.results)
        table = Table(box=None, pad_edge=False, header_style="bold")
        for number, name in enumerate(header):
            table.add_column(cell(name), justify="left" if number < 1 else "right")
        for row in rows:
            table.add_row(*map(cell, row))
        done = Text(f"{self.results['done']} of {self.results['of']} runs", style="dim")
        return Group(table, done, doing)


@contextmanager
def _live_table() -> Iterator[TransferTable]:
    from rich.live import Live

    from regard.reporting.bars import errors

    table = TransferTable(errors())
    with Live(get_renderable=table.render, console=table.console, refresh_per_second=4, transient=True):
        yield table
