"""`regard score`: log probabilities and perplexity of given translations or texts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard import registry
from regard.cli.console import progress, show
from regard.cli.loading import load_model, loading_flags
from regard.cli.options import NOTHING, Given, Json, Quiet, Run, flags_of, options
from regard.cli.task_options import Schemas, honored, task_flags
from regard.errors import ConfigError, DataError
from regard.pipelines.settings import ScoredInputs
from regard.tasks.contract import AnyTask, find_task

if TYPE_CHECKING:
    from regard.pipelines.base import Result

OPERATIONS = {task: each for task in registry.tasks() for each in task.operations if each.name == "score"}
SCHEMAS: Schemas = {task: each.options for task, each in OPERATIONS.items()}
LOADS = {name for task in OPERATIONS for name in task.loads}


@options(*flags_of(ScoredInputs), *task_flags(SCHEMAS), *loading_flags(LOADS))
def score(
    run: Run,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE [TARGET]", help="Texts; of a translator, with targets.")
    ],
    given: Given = NOTHING,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score translations or texts: log probability and perplexity of each.

    The files have a text on each line (.gz too): sources and their translations, or texts. With --json come the log
    probabilities of each token.
    """
    from regard.tasks.language_model.quantization import weights_cost
    from regard.tasks.load import read_task

    inputs, task = given.settings(ScoredInputs), find_task(read_task(run))
    rows = _rows(task, run, files, inputs)
    chosen = honored(task, run, given, SCHEMAS)
    if chosen.get("alternatives") and not json:
        raise ConfigError(
            f"--alternatives {chosen['alternatives']} needs --json; add it, or leave out --alternatives."
        )
    scorer, reporter = load_model(run, given).score, progress(quiet)
    results, cost = scorer(rows, **chosen, progress=reporter), None
    if given.get("quantize") not in (None, "none"):
        full = scorer(rows, **chosen | {"full": True}, progress=reporter)
        cost = weights_cost(*([each.log_probabilities for each in scores] for scores in (full, results)))
    _print(task, results, cost, json, files[0] if inputs.as_one_text and not inputs.inline else None)


def _rows(task: AnyTask, run: str, files: list[str], inputs: ScoredInputs) -> list[Any]:
    """Return the rows that the arguments name, or are."""
    from regard.data.sources.lines import read_lines, read_text
    from regard.data.sources.pairs import read_aligned

    if task not in OPERATIONS:
        known = " nor ".join(each.wording.noun for each in OPERATIONS)
        raise ConfigError(f"{run}: this is neither {known}, so texts have no probability; use regard evaluate.")
    takes_pairs = len(OPERATIONS[task].inputs) == 2
    if takes_pairs and len(files) != 2:
        raise ConfigError(f"{run}: this is {task.wording.noun}; give a source file and a target file.")
    if not takes_pairs and len(files) != 1:
        raise ConfigError(f"{run}: this is {task.wording.noun}, not a translator; leave out TARGET.")
    if takes_pairs and inputs.as_one_text:
        raise ConfigError(f"--as-one-text: {run} is {task.wording.noun}, which scores line by line; leave it out.")
    if takes_pairs:
        return [tuple(files)] if inputs.inline else list(read_aligned(Path(files[0]), Path(files[1])))
    if inputs.inline:
        texts, where, way_out = files, f'"{files[0]}"', "give some with --inline"
    else:
        path, where, way_out = Path(files[0]), files[0], "write one text per line"
        texts = [read_text(path)] if inputs.as_one_text else read_lines(path)
    if not any(text.strip() for text in texts):
        raise DataError(f"{where}: there is no text to score; {way_out}.")
    return list(texts)


def _print(task: AnyTask, results: "list[Result]", cost: Any, json: bool, name: str | None = None) -> None:
    """Print the metrics of each row and of all; `name` replaces the text where a file is one text."""
    operation = OPERATIONS[task]
    totals = operation.result.totals(results)
    plain = totals | ({} if cost is None else {"weights_cost": cost.plain()})
    label, words = operation.inputs[-1], {key: value for key, value in totals.items() if key not in ("tokens",)}
    rows: list[Any] = [
        (
            f"{each.log_probability:.4f}",
            str(len(each.tokens)),
            f"{each.perplexity:.2f}" if each.tokens else "-",
            name or " ".join(getattr(each, label).split()),
        )
        for each in list[Any](results)
    ]
    described = ", ".join(f"{key.replace('_', ' ')} {value:.4f}" for key, value in words.items())
    last = [f"{described}, over {totals['tokens']:,} tokens", *([] if cost is None else [str(cost)])]
    several = "texts" if label == "text" else "sentences"
    header = ("log probability", "tokens", "perplexity", label)
    show(json, plain | {several: [each.to_dict() for each in results]}, (header, rows, [0, 1, 2]), *last)
