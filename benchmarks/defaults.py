"""The plain command: what a user gets who gives nothing but data, a preset, a device or a time.

    python benchmarks/defaults.py --data DIR --out OUT --device cuda --only multi30k-de-en bert-base --beside 1

DIR holds the folders multi30k, tatoeba-en-de, tinyshakespeare, wikipedia, classics and sst2. An entry whose run is
there in OUT is not trained again, so the grid can be made in pieces; --beside trains that many entries at the same
time, which makes each slower. No entry has a setting. A JSON line an entry: seconds, scores, and planned values.
"""

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from regard.data.sources.lines import read_text

TEXT = ["--text", "{data}/wikipedia/train.txt.gz", "--text", "{data}/classics/train.txt.gz"]
VALID_TEXT = ["--valid-text", "{data}/wikipedia/valid.txt.gz"]


def pairs(source: str, target: str) -> list[str]:
    """Return the words that name Multi30k in one direction."""
    folder = "{data}/multi30k"
    train = ["--source", f"{folder}/train.{source}.gz", "--target", f"{folder}/train.{target}.gz"]
    valid = ["--valid-source", f"{folder}/val.{source}.gz", "--valid-target", f"{folder}/val.{target}.gz"]
    test = f"{folder}/test_2016_flickr"
    return [*train, *valid, f"data.test.2016.source={test}.{source}.gz", f"data.test.2016.target={test}.{target}.gz"]


def few_pairs(count: int) -> list[str]:
    """Return the words that name the first pairs of Tatoeba."""
    folder = "{data}/tatoeba-en-de"
    return [
        "--data",
        f"{folder}/train.tsv.gz",
        "--valid-data",
        f"{folder}/valid.tsv.gz",
        f"data.train.max_rows={count}",
    ]


ENTRIES = {
    "multi30k-de-en": ["translate", *pairs("de", "en")],
    "multi30k-en-de": ["translate", *pairs("en", "de")],
    "transformer-base": ["translate", *pairs("de", "en"), "--preset", "transformer-base", "--minutes", "8"],
    **{
        preset: ["translate", *pairs("de", "en"), "--preset", preset]
        for preset in ("lstm", "gru", "gru-attention", "convs2s", "mask-predict-small")
    },
    "multi30k-cpu": ["translate", *pairs("de", "en"), "--minutes", "40"],
    "tatoeba-2000": ["translate", *few_pairs(2000)],
    "tatoeba-20000": ["translate", *few_pairs(20_000)],
    "bert-base": ["masked-language-model", *TEXT, *VALID_TEXT, "--preset", "bert-base", "--minutes", "8"],
    "gpt2": ["language-model", *TEXT, *VALID_TEXT, "--preset", "gpt2", "--minutes", "8"],
    "shakespeare": [
        *("language-model", "text.kind=char"),
        *("--text", "{out}/shakespeare.txt", "--valid-text", "{out}/shakespeare-valid.txt"),
    ],
    "sst2": ["classify", "--data", "{data}/sst2/train.tsv.gz", "--valid-data", "{data}/sst2/dev.tsv.gz"],
}


def run(name: str, given: argparse.Namespace) -> dict[str, object]:
    """Train an entry, unless it is finished, and return its figures."""
    out, record = given.out / name, given.out / name / "run.json"
    started = time.perf_counter()
    if not record.is_file() or json.loads(record.read_text(encoding="utf-8")).get("state") == "preparing":
        words = [word.format(data=given.data, out=given.out) for word in ENTRIES[name]]
        if given.minutes is not None:
            words = [*words, f"train.minutes={given.minutes:g}"]
        command = [sys.executable, "-m", "regard", "train", *words, "--device", given.device, "--out", str(out)]
        with (given.out / f"{name}.log").open("w", encoding="utf-8") as log:
            subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False)
    values = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    planned = {key: source for key, source in values.get("sources", {}).items() if source.startswith("planned")}
    scores = {
        which: {key: value for key, value in each.items() if isinstance(value, int | float)}
        | {str(score["name"]): score["value"] for score in each.get("scores", []) if isinstance(score, dict)}
        for which, each in (values.get("scores") or {}).items()
    }
    return {
        "entry": name,
        "state": values.get("state", "failed"),
        "seconds": round(time.perf_counter() - started, 1),
        "training_seconds": values.get("seconds"),
        "steps": values.get("steps"),
        "best_step": values.get("best_step"),
        "parameters": values.get("parameters"),
        "validation": best_validation(out / "metrics.jsonl", values.get("best_step")),
        "scores": scores,
        "planned": planned,
    }


def best_validation(metrics: Path, step: int | None) -> dict[str, float]:
    """Return the validation metrics at a step."""
    if not metrics.is_file():
        return {}
    lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    found = [line for line in lines if line.get("step") == step and "valid_loss" in line]
    return found[-1] if found else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", nargs="+", choices=list(ENTRIES), default=list(ENTRIES), metavar="ENTRY")
    parser.add_argument("--beside", type=int, default=1, help="entries that are trained at the same time")
    parser.add_argument("--minutes", type=float, help="another time limit for each entry")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if "shakespeare" in given.only:
        text = read_text(given.data / "tinyshakespeare" / "input.txt.gz")
        (given.out / "shakespeare.txt").write_text(text[: len(text) * 9 // 10], encoding="utf-8")
        (given.out / "shakespeare-valid.txt").write_text(text[len(text) * 9 // 10 :], encoding="utf-8")
    with ThreadPoolExecutor(given.beside) as pool:
        for figures in pool.map(lambda name: run(name, given), given.only):
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
