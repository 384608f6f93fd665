"""Training speed on this machine: regard against Hugging Face Marian, same weights, batches and optimizer.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/train_speed.py --source train.de.gz --target train.en.gz

Each side runs in a process of its own, as it is shipped, has the same initial weights (their losses are
compared), sees the same batches in the same order, and they take turns step by step, so that a machine that slows
down slows all. A third row gives Marian the memory allocator setting that regard's own loop uses.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

SIDES = {"regard": True, "marian": False, "marian with regard's allocator setting": True}
"""Each row, and whether it keeps freed memory."""


@dataclass(frozen=True)
class Job:
    """The job of all sides."""

    source: str | None
    target: str | None
    tokens: int
    vocabulary: int


def work(side: str, keeps_memory: bool, job: Job, pipe: Connection) -> None:
    """Be one side: send the first loss, then take a step at each request, and send its tokens per second."""
    from regard.training.device.machine import keep_freed_memory

    if keeps_memory:
        keep_freed_memory()
    batches = read(job)
    first, loss, model = build(side, next(batches), job)
    pipe.send(first)
    step = stepper(model, loss)
    while pipe.recv():
        batch = next(batches)
        elapsed = step(batch)
        pipe.send(batch.labels.numel() / elapsed)


def read(job: Job) -> Iterator:
    """Yield the batches of an epoch, each one update."""
    from regard.data.cleaning import CleaningReport, clean
    from regard.data.encoding.batches import EncodedPairs
    from regard.data.encoding.sequences import encode
    from regard.data.feeds.feed import PairFeed
    from regard.data.feeds.sampler import Position
    from regard.data.settings.pairs import CleaningSettings, PairSource
    from regard.data.sources.pairs import read_pairs
    from regard.text.settings import TokenizerSettings
    from regard.text.training import train_tokenizer

    path = None if job.source else "miniature:train"
    pairs = clean(
        read_pairs(PairSource(source=job.source, target=job.target, path=path)), CleaningSettings(), CleaningReport()
    )
    texts = [pair.source for pair in pairs], [pair.target for pair in pairs]
    tokenizer = train_tokenizer(texts[0] + texts[1], TokenizerSettings(size=job.vocabulary))
    encoded = EncodedPairs(
        encode(texts[0], tokenizer),
        encode(texts[1], tokenizer),
        tokenizer.pad_id,
        tokenizer.pad_id,
        tokenizer.bos_id,
    )
    for update in PairFeed(lambda epoch: encoded, job.tokens, limit=10**9, seed=1).updates(Position()):
        yield update.micro_batches[0]


def build(side: str, batch, job: Job) -> tuple[float, Callable, object]:
    """Return the loss on the first batch, the function that computes it, and the model."""
    import torch

    from regard.models.base.settings import Vocabularies
    from regard.models.transformer.model import Transformer, TransformerSettings
    from regard.objectives.loss import scaled_total
    from regard.objectives.translation import TranslationObjective

    settings = TransformerSettings(
        width=256, heads=4, feed_forward_width=1024, encoder_layers=3, decoder_layers=3, dropout=0.1
    )
    torch.manual_seed(0)
    model = Transformer(settings, Vocabularies(job.vocabulary, job.vocabulary, True))
    objective = TranslationObjective(label_smoothing=0.0)

    def our_loss(batch) -> torch.Tensor:
        return scaled_total(objective(model, batch), objective.counts(batch))

    if side == "regard":
        loss = our_loss
    else:
        from marian import marian_inputs, marian_like

        model = marian_like(model, job.vocabulary, padding=0, start=2, end=3)

        def loss(batch) -> torch.Tensor:
            return model(**marian_inputs(batch)).loss

    model.eval()
    with torch.no_grad():
        first = float(loss(batch))
    return first, loss, model.train()


def stepper(model, loss: Callable) -> Callable:
    """Return a function that takes one training step and returns its duration."""
    import torch

    from regard.training.optimizers import build_optimizer
    from regard.training.settings import TrainSettings

    optimizer = build_optimizer(model, TrainSettings(learning_rate=1e-4))

    def step(batch) -> float:
        started = time.perf_counter()
        loss(batch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return time.perf_counter() - started

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", help="line-aligned source file (.gz too); unset: the miniature world")
    parser.add_argument("--target")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--tokens", type=int, default=4096, help="target tokens a batch")
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    job = Job(arguments.source, arguments.target, arguments.tokens, arguments.vocabulary)
    context = get_context("spawn")
    pipes: dict[str, Connection] = {}
    for side, keeps_memory in SIDES.items():
        here, there = context.Pipe()
        context.Process(target=work, args=(side, keeps_memory, job, there), daemon=True).start()
        pipes[side] = here
    losses = {side: pipe.recv() for side, pipe in pipes.items()}
    apart = max(losses.values()) - min(losses.values())
    print(f"same weights, same batch: losses differ by {apart:.1e}")
    if apart > 1e-4:
        raise SystemExit("the models are not the same; the comparison would mean nothing")

    speeds: dict[str, list[float]] = {side: [] for side in pipes}
    for number in range(arguments.steps + 3):
        for side in list(pipes) if number % 2 else list(pipes)[::-1]:
            pipes[side].send(True)
            speed = pipes[side].recv()
            if number >= 3:  # the first steps warm up
                speeds[side].append(speed)
    for pipe in pipes.values():
        pipe.send(False)
    import torch

    result = {
        "target_tokens_per_second": {side: round(statistics.median(each)) for side, each in speeds.items()},
        "regard_is_faster_by": {
            side: round(statistics.median(ours / theirs for ours, theirs in zip(speeds["regard"], each)), 3)
            for side, each in speeds.items()
            if side != "regard"
        },
        "steps": arguments.steps,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, torch {torch.__version__}",
    }
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
