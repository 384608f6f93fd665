"""`regard transfer`: accuracy by pretrained model and number of training examples."""

from typing import TYPE_CHECKING

from regard.cli.console import show
from regard.cli.options import NOTHING, Given, Json, Overwrite, Quiet, SettingWords, flags_of, options
from regard.cli.run_options import COLUMNS, MACHINE, label_columns
from regard.config.overrides import parse_overrides
from regard.errors import ConfigError
from regard.studies.settings import TransferFolder, TransferOptions

if TYPE_CHECKING:
    from regard.studies.transfer.folder import Transfer
    from regard.studies.transfer.transfer import TransferStudy


@options(*flags_of(TransferOptions, shows_defaults=True), *COLUMNS[2:], *flags_of(TransferFolder), *MACHINE)
def transfer(
    settings: SettingWords = None,
    given: Given = NOTHING,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare pretrained models on the same labeled texts; Ctrl-C saves.

    The same command resumes. Example: regard transfer --data reviews.csv --methods scratch,bert-tuned --bert
    runs/bert --sizes 100,all
    """
    from regard.reporting.live import live
    from regard.studies.transfer.report import ResultLines, accuracy_table
    from regard.studies.transfer.transfer import transfer as run_transfer

    study = _study(given, list(settings or []))
    with live(quiet, accuracy_table, ResultLines()) as (reporter, update):
        finished = run_transfer(study, progress=reporter, show=update, out=given["out"], overwrite=overwrite)
    print_transfer(finished, json)


def _study(given: Given, words: list[str]) -> "TransferStudy":
    from regard.studies.transfer.transfer import TransferStudy

    columns = label_columns(given)
    if columns and given["data"] is None:
        raise ConfigError("--text-column and --label-column are for --data; leave them out.")
    if given["test_data"] and given["data"] is None:
        raise ConfigError("--test-data belongs to --data; give that too.")
    chosen = given.settings(TransferOptions)
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
    from regard.studies.transfer.report import accuracy_table

    results = study.results
    header, rows, _ = accuracy_table(results)
    seeds = "1 seed" if results["seeds"] == 1 else f"{results['seeds']} seeds"
    failed = [f"{name} failed: {reason}" for name, reason in results["failed"].items()]
    last = f"accuracy % (mean ± deviation of {seeds}); report: {study.report}"
    plain = {"transfer": str(study.path), "report": str(study.report)} | results
    show(as_json, plain, (header, rows, range(1, len(header))), *failed, last)
