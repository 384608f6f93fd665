"""The watch over models that learn nothing, on every recipe of the package: it has to stay silent.

    python benchmarks/false_alarms.py --out OUT --seeds 1 2 3 [--only translate-miniature ...]

Each recipe on the miniature world is trained with each seed as it is, or for the first --updates of its schedule. A
JSON line a run: restarts, warnings of a standstill, and validation loss against the level of a constant prediction.
The exit code is 1 if any run raised an alarm. A run that is finished in OUT is not trained again.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from regard.errors import RegardError
from regard.progress import Progress
from regard.runs.planning.recipes import shipped
from regard.runs.run import Run
from regard.runs.train import train
from regard.training.reports.metrics_log import METRICS, read_metrics

SIGNS = ("learns nothing", "constant prediction", "are identical", "nearly uniform", "whatever the input")
"""Parts of the sentences that the watch warns with."""


class Listener(Progress):
    """Keeps the warnings of the watch."""

    def __init__(self) -> None:
        self.alarms: list[str] = []

    def warn(self, message: str) -> None:
        """Keep a warning of a standstill."""
        if any(sign in message for sign in SIGNS):
            self.alarms.append(message)


def watched(recipe: str, seed: int, out: Path, updates: int | None, device: str) -> dict[str, Any]:
    """Train a recipe with a seed, unless that is done, and return its alarms."""
    path, listener, error = out / f"{recipe}-{seed}", Listener(), ""
    noted = out / f"{recipe}-{seed}.json"
    if noted.is_file():
        return dict(json.loads(noted.read_text(encoding="utf-8")))
    changes: dict[str, Any] = {"seed": seed, "machine.device": device}
    if updates is not None and not recipe.startswith("vectors"):
        changes["train.steps"] = updates
    try:
        train(recipe, changes, out=path, overwrite=True, progress=listener)
    except RegardError as refusal:
        error = str(refusal)
    lines = read_metrics(Run(path).path / METRICS)
    losses = [line["valid_loss"] for line in lines if "valid_loss" in line]
    result = {
        "recipe": recipe,
        "seed": seed,
        "restarts": sum("returned_from" in line for line in lines),
        "alarms": listener.alarms,
        "error": error,
        "first_and_last_loss": [losses[0], losses[-1]] if losses else [],
    }
    noted.write_text(json.dumps(result), encoding="utf-8")
    return result


def main() -> None:
    names = [name for name in shipped() if name.endswith("-miniature")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="RECIPE")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--updates", type=int, help="updates of a run (default: the recipe's own)")
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    is_silent = True
    for recipe in given.only:
        for seed in given.seeds:
            result = watched(recipe, seed, given.out, given.updates, given.device)
            print(json.dumps(result), flush=True)
            is_silent = is_silent and not (result["alarms"] or result["error"] or result["restarts"])
    sys.exit(0 if is_silent else 1)


if __name__ == "__main__":
    main()
