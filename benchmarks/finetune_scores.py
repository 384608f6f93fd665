"""The value of pretraining: six tasks fine-tuned from a pretrained model, and trained from scratch with the same one.

    python benchmarks/finetune_scores.py --data DIR --init-from runs/bert --scratch-like runs/bert
    python benchmarks/finetune_scores.py --data DIR --init-from runs/bert --scratch-like runs/bert --processes 6
    python benchmarks/finetune_scores.py --data DIR --init-from hf:FOLDER --tasks cola,rte train.epochs=1

DIR holds a folder for each task: sst2, cola and rte (classify), stsb (regress), wnut17 (tag), squad-style (answer).
Every cell is a run of `regard train` for a fixed number of epochs with at most five validations, whose best
checkpoint is scored on the same set, with a 95 % interval by bootstrap over examples.
Words such as train.epochs=1 change the settings of all runs. With both sides, the difference has a paired bootstrap
too. `stsb` is a cross-encoder of the pair, `stsb-apart` a bi-encoder (the score is the cosine of the two embeddings).
"""

import argparse
import json
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

REFERENCE_WIDTH = 768
PRETRAINED, SCRATCH = "pretrained", "from scratch"
RATES = {PRETRAINED: 6e-5, SCRATCH: 2e-4}
"""Peak rates for a model 768 wide; a narrower one takes a higher one, in proportion (Turc et al., 2019, tried the
same range for small models). The optimizer, its warm-up and its weight decay are those of `regard train`."""

VALIDATIONS = 5
"""Maximum number of validations of a run: with more, the best is more often so by luck."""


@dataclass(frozen=True)
class Bench:
    """A task on public data: its epochs on either side, and its main metric."""

    task: str
    train: str
    valid: str
    metric: str
    words: str
    epochs: dict[str, int]
    examples: int = 32
    """Examples per update."""
    columns: dict[str, Any] = field(default_factory=dict)
    further: dict[str, Any] = field(default_factory=dict)


def epochs(pretrained: int, scratch: int) -> dict[str, int]:
    return {PRETRAINED: pretrained, SCRATCH: scratch}


BENCHES = {
    "sst2": Bench("classify", "sst2/train.tsv.gz", "sst2/dev.tsv.gz", "accuracy", "accuracy", epochs(3, 4), 64),
    "squad": Bench(
        "answer",
        "squad-style/new_wiki_v1.0.json.gz",
        "squad-style/xquad.en.json.gz",
        "f1",
        "F1",
        epochs(4, 6),
    ),
    "cola": Bench(
        "classify",
        "cola/in_domain_train.tsv.gz",
        "cola/in_domain_dev.tsv.gz",
        "matthews",
        "Matthews",
        epochs(6, 10),
        columns={"text_column": 3, "label_column": 1},
    ),
    "stsb": Bench(
        "regress", "stsb/stsb-en-train.csv.gz", "stsb/stsb-en-dev.csv.gz", "spearman", "Spearman", epochs(6, 10)
    ),
    "stsb-apart": Bench(
        "regress",
        "stsb/stsb-en-train.csv.gz",
        "stsb/stsb-en-dev.csv.gz",
        "spearman",
        "Spearman",
        epochs(4, 8),
        further={"pair_encoding": "bi-encoder"},
    ),
    "wnut17": Bench(
        "tag", "wnut17/wnut17train.conll.gz", "wnut17/emerging.dev.conll.gz", "f1", "F1 of spans", epochs(8, 12)
    ),
    "rte": Bench("classify", "rte/train.tsv.gz", "rte/dev.tsv.gz", "accuracy", "accuracy", epochs(6, 10)),
}
"""The longest first, so that processes side by side end together."""


@dataclass(frozen=True)
class Job:
    """One cell of the table."""

    bench: str
    side: str
    data: str
    out: str
    init_from: str | None
    """The model to begin with; None: from scratch."""
    like: dict[str, Any] | None
    """Settings of a randomly initialized model, and of its tokenizer."""
    width: int
    device: str
    threads: int
    count: int | None
    words: tuple[str, ...]

    def settings(self) -> dict[str, Any]:
        """Return the settings of the run by dotted name."""
        from regard.config.overrides import parse_overrides

        bench = BENCHES[self.bench]
        sources: dict[str, Any] = {
            "train": {"path": f"{self.data}/{bench.train}"} | bench.columns,
            "valid": {"path": f"{self.data}/{bench.valid}"} | bench.columns,
        }
        if self.count:
            sources["train"]["max_rows"] = self.count
        given = parse_overrides(self.words)
        length = float(given.get("train.epochs", bench.epochs[self.side]))
        settings = {
            "data": sources,
            "train.epochs": length,
            "train.examples_per_update": bench.examples,
            "train.learning_rate": float(f"{RATES[self.side] * REFERENCE_WIDTH / self.width:.3g}"),
            "train.validate_every": max(1 / length, 1 / VALIDATIONS) if length > 1 else 0.999,
            "train.select_by": bench.metric,
            "train.keep_last": 1,
            "machine.device": self.device,
            "machine.threads": self.threads,
        } | bench.further
        settings |= {"init_from": self.init_from} if self.init_from else dict(self.like or {})
        return settings | given

    def run(self) -> dict[str, Any]:
        """Train, and return what came of it."""
        import regard

        bench, settings, began = BENCHES[self.bench], self.settings(), time.perf_counter()
        run = regard.train(bench.task, settings, out=self.out, overwrite=True)
        record = run.record
        metrics: Any = record.scores["valid"]
        low, high = metrics["intervals"][bench.metric]
        train = record.settings.plain["train"]
        shown = ("accuracy", "macro_f1", "matthews", "spearman", "pearson", "f1", "exact_match")
        return {
            "task": self.bench,
            "side": self.side,
            "metric": bench.words,
            "value": metrics[bench.metric],
            "interval": [low, high],
            "standard_error": (high - low) / 3.92,
            "metrics": {name: metrics[name] for name in shown if name in metrics},
            "examples": metrics["examples"],
            "train_examples": record.report.sets["train"].kept,
            "parameters": record.parameters,
            "updates": record.updates,
            "best_step": record.best_step,
            "train_seconds": record.seconds,
            "seconds": round(time.perf_counter() - began, 1),
            "settings": {name: train[name] for name in ("learning_rate", "epochs", "examples_per_update", "warmup")},
            "machine": record.machine.plain,
            "run": str(run.path),
        }


def work(job: Job) -> dict[str, Any]:
    """Do a job in a process of its own."""
    return job.run()


def sides(given: argparse.Namespace, folder: Path) -> dict[str, dict[str, Any]]:
    """Return the initialization of each side: a pretrained model, or the settings of one and its tokenizer."""
    from regard.models.families import family
    from regard.models.presets import preset
    from regard.tasks.init_from import read_pretrained

    chosen_sides: dict[str, dict[str, Any]] = {}
    if given.init_from:
        bundle = read_pretrained(given.init_from)
        chosen_sides[PRETRAINED] = {"init_from": given.init_from, "like": None, "width": bundle.settings.width}
    if given.scratch_like:
        bundle = read_pretrained(given.scratch_like)
        vocabulary = folder / "tokenizer.json"
        bundle.tokenizers["tokenizer"].save(vocabulary)
        model = bundle.settings.model_dump(mode="json")
        like = {"model": {name: value for name, value in model.items() if name != "preset"}}
        chosen_sides[SCRATCH] = {
            "init_from": None,
            "like": like | {"text.tokenizer": str(vocabulary)},
            "width": model["width"],
        }
    elif given.scratch_preset:
        chosen = preset(given.scratch_preset).settings
        width = family(chosen["family"]).settings(**chosen).width
        chosen_sides[SCRATCH] = {"init_from": None, "like": {"model.preset": given.scratch_preset}, "width": width}
    return chosen_sides


def difference(first: dict[str, Any], second: dict[str, Any], data: str) -> dict[str, Any]:
    """Return how the first run differs from the second on the same examples, by a paired bootstrap."""
    from regard.checkpoint.bundle import read_bundle
    from regard.checkpoint.store import find_checkpoint
    from regard.metrics.significance import paired
    from regard.progress import SILENT
    from regard.registry import task as find_task
    from regard.runs.scores.passport import read_passport
    from regard.tasks.finetune.data import ExampleReport, read_set

    bench = BENCHES[first["task"]]
    task = find_task(bench.task)
    examples = read_set(task, task.source(path=f"{data}/{bench.valid}", **bench.columns), ExampleReport(), SILENT)
    one, other = (
        task.statistics(
            examples,
            read_passport(Path(each["run"]) / "scores" / "valid.json").outputs,
            task.read_facts(read_bundle(find_checkpoint(Path(each["run"])))),
        )[bench.metric]
        for each in (first, second)
    )
    test = paired(bench.words, "", one, other, len(examples))
    return {"value": test.value, "interval": list(test.interval), "p": test.p}


def table(rows: list[dict[str, Any]], differences: dict[str, dict[str, Any]]) -> str:
    """Return everything as a Markdown table."""
    names = [side for side in (PRETRAINED, SCRATCH) if any(row["side"] == side for row in rows)]
    head = ["task", "metric", *(f"{name} [95 %]" for name in names), *(["difference [95 %]"] if differences else [])]
    lines = [head, ["---"] * len(head)]
    ranged = lambda it: f"{100 * it['value']:.1f} [{100 * it['interval'][0]:.1f}, {100 * it['interval'][1]:.1f}]"
    for task in BENCHES:
        cells = {row["side"]: row for row in rows if row["task"] == task}
        if cells:
            shown = [ranged(cells[name]) if name in cells else "" for name in names]
            compared = [ranged(differences[task]) if task in differences else ""] if differences else []
            lines.append([task, next(iter(cells.values()))["metric"], *shown, *compared])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", help="settings of all runs, such as train.epochs=1")
    parser.add_argument("--data", required=True, help="the folder with a folder for each task")
    parser.add_argument("--init-from", help="a run, a checkpoint or hf:DIR: the side that has been pretrained")
    parser.add_argument(
        "--scratch-like", help="another of them (or the same): its shape and tokenizer, randomly initialized"
    )
    parser.add_argument("--scratch-preset", help="a preset, with a tokenizer made of each task's own texts")
    parser.add_argument("--tasks", default=",".join(BENCHES), help=f"some of {','.join(BENCHES)}")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--processes", type=int, default=1, help="runs side by side")
    parser.add_argument("--count", type=int, help="maximum number of training examples, for a quick try")
    parser.add_argument("--runs", help="keep the runs here; default: they are removed")
    parser.add_argument("--out", help="write everything here, as JSON")
    given = parser.parse_args()
    for name in given.tasks.split(","):
        if name not in BENCHES:
            parser.error(f'--tasks: "{name}" is not one of {", ".join(BENCHES)}.')
    if not (given.init_from or given.scratch_like or given.scratch_preset):
        parser.error("give what to train: --init-from, --scratch-like or --scratch-preset.")
    return given


def write(
    given: argparse.Namespace, rows: list[Any], differences: dict[str, Any], failed: list[str], seconds: float
) -> None:
    results = {"rows": rows, "differences": differences, "failed": failed, "seconds": round(seconds, 1)}
    text = json.dumps(results | {"processes": given.processes}, indent=2)
    Path(given.out).write_text(text + "\n", encoding="utf-8")


def main() -> None:
    given, began = arguments(), time.perf_counter()
    data = str(Path(given.data).resolve())
    threads = max(1, (os.cpu_count() or 1) // given.processes)
    with tempfile.TemporaryDirectory(prefix="finetune-") as aside:
        folder = Path(given.runs or aside)
        folder.mkdir(parents=True, exist_ok=True)
        jobs = [
            Job(
                bench=name,
                side=side,
                data=data,
                out=str(folder / f"{name}-{side.replace(' ', '-')}"),
                **begin,
                device=given.device,
                threads=threads,
                count=given.count,
                words=tuple(given.settings),
            )
            for name in BENCHES
            if name in given.tasks.split(",")
            for side, begin in sides(given, folder).items()
        ]
        rows: list[dict[str, Any]] = []
        failed: list[str] = []
        with ProcessPoolExecutor(given.processes, mp_context=get_context("spawn")) as pool:
            waiting = {pool.submit(work, job): job for job in jobs}
            for done in as_completed(waiting):
                name = f"{waiting[done].bench}, {waiting[done].side}"
                if (error := done.exception()) is not None:  # the others are still worth having
                    failed.append(f"{name}: {type(error).__name__}: {error}")
                    print(f"{failed[-1]}", flush=True)
                    continue
                row = done.result()
                rows.append(row)
                if given.out:  # as they come: what is done is not lost with what is not
                    write(given, rows, {}, failed, time.perf_counter() - began)
                where = f"[{row['interval'][0]:.4f}, {row['interval'][1]:.4f}]"
                print(f"{name}: {row['metric']} {row['value']:.4f} {where}, {row['seconds']} s", flush=True)
        cells = {(row["task"], row["side"]): row for row in rows}
        differences = {
            task: difference(cells[task, PRETRAINED], cells[task, SCRATCH], data)
            for task in BENCHES
            if (task, PRETRAINED) in cells and (task, SCRATCH) in cells
        }
    rows.sort(key=lambda row: (list(BENCHES).index(row["task"]), row["side"] == SCRATCH))
    seconds = round(time.perf_counter() - began, 1)
    where = rows[0]["machine"]["processor"] if rows else given.device
    print(f"\n{table(rows, differences)}\n\n{seconds} s in all, {given.processes} side by side, on {where}")
    if given.out:
        write(given, rows, differences, failed, seconds)
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
