"""Speed of this tree against an earlier commit: the same recipes trained and scored by both, taking turns.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/versions.py --base 94ba8d7 --rounds 5

The earlier commit is checked out beside this tree (or is a folder that already holds it) and runs with the same
Python. Each round trains every recipe for a few updates with one version, then with the other, in processes of their
own; a ratio is that of medians over rounds.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECIPES = {
    "translate-miniature": ["train.steps=60"],
    "language-miniature": ["train.steps=40"],
    "masked-miniature": ["train.steps=60"],
    "elmo-miniature": ["train.steps=30"],
    "reviews-miniature": ["train.steps=60"],
    "vectors-miniature": ["train.epochs=2"],
}
"""Recipes of the embedded world, and how short they are made."""
SHORT = [
    "train.warmup=5",
    "train.validate_every=1000000",
    "train.log_every=5",
    "preflight=false",
]
NO_LOOP = ("vectors",)
"""Recipes whose trainer has fewer settings."""
TEST_ROWS = {
    "translate-miniature": {"test": 200, "unseen-pairs": 1, "unseen-cases": 1, "unseen-depth": 1},
    "language-miniature": {"test": 40},
    "masked-miniature": {"test": 40},
    "elmo-miniature": {"test": 40},
    "reviews-miniature": {"test": 100},
}
"""Rows of each test set: most of a round would be scores otherwise."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, help="the earlier commit, or a folder with its tree")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--recipes", default=",".join(RECIPES), help="names, with commas between them")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="regard-versions-") as folder, tree_of(options.base) as base:
        result = compare({"base": base, "now": ROOT}, options.recipes.split(","), options.rounds, Path(folder))
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(json.dumps({"base": options.base, "rounds": options.rounds, "machine": machine, **result}, indent=2))


@contextmanager
def tree_of(base: str) -> Iterator[Path]:
    """Yield the folder with the tree of a commit, checked out beside this one unless it is a folder already."""
    if Path(base).is_dir():
        yield Path(base).resolve()
        return
    git = ["git", "-C", str(ROOT), "worktree"]
    with tempfile.TemporaryDirectory(prefix="regard-base-") as folder:
        tree = Path(folder) / "base"
        subprocess.run([*git, "add", "--detach", str(tree), base], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def environment(tree: Path) -> dict[str, str]:
    """Return the environment of a process that runs the source of a tree."""
    path = os.pathsep.join(filter(None, [str(tree / "src"), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path, "OMP_WAIT_POLICY": "PASSIVE"}


def compare(sides: dict[str, Path], recipes: list[str], rounds: int, folder: Path) -> dict[str, object]:
    """Return medians of both versions and their ratios, by recipe and quantity."""
    values: dict[str, dict[str, list[float]]] = {}
    for number in range(rounds):
        for recipe in recipes:
            for side in sides if number % 2 else reversed(sides):
                for name, value in measure(sides[side], recipe, folder / f"{side}-{recipe}-{number}").items():
                    values.setdefault(f"{recipe}: {name}", {}).setdefault(side, []).append(value)
        print(f"round {number + 1} of {rounds}: {summary(values)}", file=sys.stderr)
    return summary(values)


def summary(values: dict[str, dict[str, list[float]]]) -> dict[str, object]:
    """Return medians of both versions and their ratios, by recipe and quantity, from all rounds so far."""
    medians = {
        name: {side: round(statistics.median(each), 1) for side, each in by_side.items()}
        for name, by_side in values.items()
    }
    ratios = {name: round(each["now"] / each["base"], 3) for name, each in medians.items()}
    return {
        "medians": medians,
        "ratios": ratios,
        "geometric_mean": round(statistics.geometric_mean(ratios.values()), 3),
    }


def measure(tree: Path, recipe: str, run: Path) -> dict[str, float]:
    """Train and score a recipe with the source of a tree; return its speeds."""
    settings = RECIPES[recipe] + ([] if recipe.startswith(NO_LOOP) else SHORT)
    # The setting had another name in the first version.
    limit = "max_rows" if (tree / "src/regard/data/settings").is_dir() else "count"
    settings = settings + [f"data.test.{name}.{limit}={rows}" for name, rows in TEST_ROWS.get(recipe, {}).items()]
    command = [sys.executable, "-m", "regard", "train", recipe, *settings, "--out", str(run), "--quiet"]
    subprocess.run(command, check=True, env=environment(tree), cwd=run.parent, stdout=subprocess.DEVNULL)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    speeds = [line["tokens_per_second"] for line in lines if "tokens_per_second" in line][1:]
    scores = json.loads((run / "run.json").read_text(encoding="utf-8"))["scores"]
    decoding = [each["sentences_per_second"] for each in scores.values() if "sentences_per_second" in each]
    speed = {"training, tokens/s": statistics.median(speeds)} if speeds else {}
    return speed | ({"beam search, sentences/s": decoding[0]} if decoding else {})


if __name__ == "__main__":
    main()
