"""Work of this tree against an earlier commit: the torch operations that each recipe dispatches, training and scores.

    python benchmarks/operations.py --base 94ba8d7

Counts do not depend on what else the machine does, so they show a change that timings on a noisy machine cannot. Both
versions train each recipe of `versions.py` for a few updates on one thread and score it on a few rows. A ratio is
that of numbers of operations, now / base; what changed is listed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from versions import NO_LOOP, RECIPES, ROOT, SHORT, TEST_ROWS, environment, tree_of

STEPS = "train.steps=10"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", help="the earlier commit, or a folder with its tree")
    parser.add_argument("--recipes", default=",".join(RECIPES), help="names, with commas between them")
    parser.add_argument(
        "--count", nargs=argparse.REMAINDER, metavar="WORD", help="count one `regard` command instead"
    )
    options = parser.parse_args()
    if options.count:
        print(json.dumps(count(options.count)))
        return
    with tempfile.TemporaryDirectory(prefix="regard-operations-") as folder, tree_of(options.base) as base:
        for recipe in options.recipes.split(","):
            before, now = (measure(tree, recipe, Path(folder) / f"{recipe}-{tree.name}") for tree in (base, ROOT))
            both = {"base": sum(before.values()), "now": sum(now.values())}
            changed = {
                name: [before.get(name, 0), now.get(name, 0)]
                for name in sorted({*before, *now})
                if before.get(name) != now.get(name)
            }
            ratio = round(both["now"] / both["base"], 4) if both["base"] else None
            print(json.dumps({"recipe": recipe} | both | {"ratio": ratio, "changed": changed}), flush=True)


def measure(tree: Path, recipe: str, run: Path) -> dict[str, int]:
    """Train and score a recipe with the source of a tree; return how often it dispatches each operation."""
    settings = RECIPES[recipe] if recipe.startswith(NO_LOOP) else [STEPS, *SHORT]
    limit = "max_rows" if (tree / "src/regard/data/settings").is_dir() else "count"
    rows = [f"data.test.{name}.{limit}={min(number, 40)}" for name, number in TEST_ROWS.get(recipe, {}).items()]
    words = ["train", recipe, *settings, "machine.threads=1", *rows, "--out", str(run), "--quiet"]
    command = [sys.executable, __file__, "--count", *words]
    done = subprocess.run(command, check=True, env=environment(tree), cwd=run.parent, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def count(words: list[str]) -> dict[str, int]:
    """Return the operations of one command."""
    from torch.profiler import ProfilerActivity, profile

    from regard.cli.main import app

    with profile(activities=[ProfilerActivity.CPU]) as profiler, redirect_stdout(sys.stderr):
        app(words, standalone_mode=False)
    return {event.key: event.count for event in profiler.key_averages() if event.key.startswith("aten::")}


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    main()
