"""`regard transfer`: what a pretrained beginning buys on a task, from few examples to all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import Device, Json, LabelColumn, Quiet, SettingWords, TextColumn, Threads, label_columns
from regard.cli.verbs.race import LiveTable
from regard.progress import Progress

if TYPE_CHECKING:
    from regard.studies.transfer.folder import Transfer

METHODS = "scratch,vectors-frozen,vectors-tuned,elmo,bert-features,bert-tuned"


def transfer(
    settings: SettingWords = None,
    data: Annotated[
        str | None,
        typer.Option(help="Texts with labels: .csv, .tsv, .jsonl or hf:NAME; unset: reviews of the embedded world."),
    ] = None,
    test_data: Annotated[
        str | None, typer.Option(help="Examples to be scored on; unset: some are set apart, always the same.")
    ] = None,
    methods: Annotated[str, typer.Option(help="Ways to begin, separated by commas.")] = METHODS,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Training examples, separated by commas; all for all; unset: 100,1000,all, or 20,100,all for the "
            "reviews of the embedded world."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each method and size.")] = 3,
    vectors: Annotated[str | None, typer.Option(help="File (word2vec or GloVe) or run of word vectors.")] = None,
    elmo: Annotated[str | None, typer.Option(help="Run of an ELMo.")] = None,
    bert: Annotated[str | None, typer.Option(help="Run of a BERT, or hf:DIR.")] = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the transfer; unset: transfers/DATA.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a transfer that is there already.")] = False,
    device: Device = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare beginnings on the same labeled texts; Ctrl-C saves, and the same command goes on.

    Example: regard transfer --data reviews.csv --methods scratch,bert-tuned --bert runs/bert --sizes 100,all
    """
    flags = dict(locals())
    from regard.cli.console import errors, progress
    from regard.studies.transfer.transfer import transfer as run_transfer

    question = _question(flags)
    options: dict[str, Any] = {"out": out, "overwrite": overwrite}
    if quiet or not errors().is_terminal:
        reporter = progress(quiet)
        found = run_transfer(question, progress=reporter, show=Steps(reporter), **options)
    else:
        with _live_table() as table:
            found = run_transfer(question, progress=table, show=table.take, **options)
    print_transfer(found, json)


def _question(flags: dict[str, Any]) -> Any:
    from regard.config.overrides import parse_overrides
    from regard.errors import ConfigError
    from regard.studies.transfer.transfer import TransferStudy

    columns = label_columns(flags)
    if columns and flags["data"] is None:
        raise ConfigError("--text-column and --label-column are for --data; leave them out.")
    if flags["test_data"] and flags["data"] is None:
        raise ConfigError("--test-data belongs to --data; give that too.")
    overrides = parse_overrides(list(flags["settings"] or []))
    machine = {"device": flags["device"], "threads": flags["threads"]}
    overrides |= {f"machine.{name}": value for name, value in machine.items() if value is not None}
    place = lambda path: None if path is None else {"path": path} | columns
    split = lambda words: [word.strip() for word in words.split(",") if word.strip()]
    return TransferStudy(
        place(flags["data"]),
        place(flags["test_data"]),
        split(flags["methods"]),
        None if flags["sizes"] is None else split(flags["sizes"]),
        flags["seeds"],
        {name: flags[name] for name in ("vectors", "elmo", "bert")},
        overrides,
    )


def print_transfer(found: "Transfer", as_json: bool) -> None:
    """Say what came of a transfer; one that was interrupted leaves with exit code 130."""
    from regard.cli.console import errors, print_json, print_line, print_table

    if not (found.path / "results.json").is_file():
        errors().print("Stopped; everything is saved. The same command goes on.", markup=False, soft_wrap=True)
        sys.exit(130)
    results = found.results
    if as_json:
        print_json({"transfer": str(found.path), "report": str(found.report)} | results)
    else:
        header, rows = _rows(results)
        print_table(header, rows, right=range(1, len(header)))
        for name, reason in results["failed"].items():
            print_line(f"{name} failed: {reason}")
        seeds = "1 seed" if results["seeds"] == 1 else f"{results['seeds']} seeds"
        print_line(f"accuracy % (mean ± deviation of {seeds}); report: {found.report}")
    if not results["is_finished"] and not results["failed"]:
        if not as_json:
            errors().print("Stopped; everything is saved. The same command goes on.", markup=False, soft_wrap=True)
        sys.exit(130)


def _rows(results: dict[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the table of a transfer as people read it."""
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


class Steps:
    """Tells in a line how a cell ended, where no table can be drawn."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.told = 0

    def __call__(self, results: dict[str, Any]) -> None:
        """Compare with what was told before."""
        if results["done"] > self.told:
            self.told = results["done"]
            _, rows = _rows(results)
            self.progress.say(f"{results['done']} of {results['of']}: " + "; ".join(" ".join(row) for row in rows))


class TransferTable(LiveTable):
    """The table of a transfer, drawn anew whenever a cell is done, and under it what is being done."""

    def __init__(self, console: Any) -> None:
        super().__init__(console)
        self.results: dict[str, Any] | None = None

    def take(self, results: dict[str, Any]) -> None:
        """Take over how it stands."""
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

    from regard.cli.console import errors

    table = TransferTable(errors())
    with Live(get_renderable=table.render, console=table.console, refresh_per_second=4, transient=True):
        yield table
