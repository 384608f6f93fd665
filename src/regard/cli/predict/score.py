"""`regard score`: log probabilities and perplexity of given translations or texts."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard import registry
from regard.cli.options import JSON, QUIET, Given, Run, options
from regard.cli.run_options import load_model, loading_flags
from regard.cli.task_options import Schemas, honored, task_flags
from regard.errors import ConfigError
from regard.pipelines.settings import ScoredInputs
from regard.tasks.contract import AnyTask, find_task

if TYPE_CHECKING:
    from regard.pipelines.base import Result
    from regard.tasks.language_model.quantization import WeightsCost

OPERATIONS = {task: operation for task in registry.tasks() if (operation := task.operation("score"))}
SCHEMAS: Schemas = {task: operation.options for task, operation in OPERATIONS.items()}
LOADS = {name for task in SCHEMAS for name in task.loads}


@options(QUIET, JSON, ScoredInputs, *task_flags(SCHEMAS), *loading_flags(LOADS))
def score(
    given: Given,
    run: Run,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE [TARGET]", help="Texts; of a translator, with targets.")
    ],
) -> None:
    """Score translations or texts: log probability and perplexity of each.

    The files have a text on each line (.gz too): sources and their translations, or texts. With --json come the log
    probabilities of each token.
    """
    from regard.tasks.language_model.quantization import weights_cost
    from regard.tasks.load import read_task
    from regard.tasks.scored import scored_rows

    inputs, task = given.settings(ScoredInputs), find_task(read_task(run))
    rows = scored_rows(task, run, files, inputs)
    chosen = honored(task, run, given, SCHEMAS)
    if chosen.get("alternatives") and not given["json"]:
        raise ConfigError(
            f"--alternatives {chosen['alternatives']} needs --json; add it, or leave out --alternatives."
        )
    scorer = load_model(run, given).score
    results, cost = scorer(rows, **chosen, progress=given.progress), None
    if given.get("quantize") not in (None, "none"):
        full = scorer(rows, **chosen | {"full": True}, progress=given.progress)
        cost = weights_cost(*([each.log_probabilities for each in scores] for scores in (full, results)))
    _print(given, task, results, cost, files[0] if inputs.as_one_text and not inputs.inline else "")


def _print(given: Given, task: AnyTask, results: "list[Result]", cost: "WeightsCost | None", name: str = "") -> None:
    """Print the metrics of each row and of all; `name` replaces the text where a file is one text."""
    operation = OPERATIONS[task]
    totals, label = operation.result.totals(results), operation.inputs[-1]
    rows = [
        (
            f"{each.log_probability:.4f}",
            str(len(each.tokens)),
            f"{each.perplexity:.2f}" if each.tokens else "-",
            name or " ".join(getattr(each, label).split()),
        )
        for each in list[Any](results)
    ]
    words = [f"{key.replace('_', ' ')} {value:.4f}" for key, value in totals.items() if key != "tokens"]
    last = [f"{', '.join(words)}, over {totals['tokens']:,} tokens", *([] if cost is None else [str(cost)])]
    plain = totals | ({} if cost is None else {"weights_cost": cost.plain()})
    plain["texts" if label == "text" else "sentences"] = [each.to_dict() for each in results]
    given.show(plain, (("log probability", "tokens", "perplexity", label), rows, [0, 1, 2]), *last)
