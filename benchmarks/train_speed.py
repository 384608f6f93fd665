"""Training speed on this machine: regard against Hugging Face Marian, same weights, batches and optimizer.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/train_speed.py --source train.de.gz --target train.en.gz

Both sides hold the same weights at the start (their losses are compared), see the same batches in the same order,
and take turns step by step, so that a machine that slows down slows both.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from marian import marian_inputs, marian_like
from regard.data.batches import EncodedPairs, TranslationBatch
from regard.data.cleaning import CleaningReport, clean
from regard.data.feed import PairFeed
from regard.data.readers import read_pairs
from regard.data.sampler import Position
from regard.data.sequences import encode
from regard.data.settings import CleaningSettings, PairSource
from regard.models import Vocabularies
from regard.models.transformer import Transformer, TransformerSettings
from regard.objectives import TranslationObjective, scaled_total
from regard.text import TokenizerSettings, train_tokenizer
from regard.training.machine import keep_freed_memory
from regard.training.optimizers import build_optimizer
from regard.training.settings import TrainSettings

ARCHITECTURE = TransformerSettings(
    width=256,
    heads=4,
    feed_forward_width=1024,
    encoder_layers=3,
    decoder_layers=3,
    dropout=0.1,
    embedding_dropout=0.1,
)


def stepper(
    model: nn.Module, loss: Callable[[TranslationBatch], torch.Tensor]
) -> Callable[[TranslationBatch], float]:
    """Return a function that takes one training step and says how long it took."""
    optimizer = build_optimizer(model, TrainSettings(learning_rate=1e-4))

    def step(batch: TranslationBatch) -> float:
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
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--tokens", type=int, default=4096, help="target tokens a batch")
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    arguments = parser.parse_args()
    keep_freed_memory()
    torch.manual_seed(0)

    place = PairSource(
        source=arguments.source, target=arguments.target, path=None if arguments.source else "miniature:train"
    )
    pairs = clean(read_pairs(place), CleaningSettings(), CleaningReport())
    texts = [pair.source for pair in pairs], [pair.target for pair in pairs]
    tokenizer = train_tokenizer(texts[0] + texts[1], TokenizerSettings(size=arguments.vocabulary))
    encoded = EncodedPairs(
        encode(texts[0], tokenizer),
        encode(texts[1], tokenizer),
        tokenizer.padding,
        tokenizer.padding,
        tokenizer.start,
    )
    feed = PairFeed(lambda epoch: encoded, arguments.tokens, limit=10**9, seed=1).updates(Position())

    ours = Transformer(ARCHITECTURE, Vocabularies(tokenizer.size, tokenizer.size, True))
    theirs = marian_like(ours, tokenizer.size, tokenizer.padding, tokenizer.start, tokenizer.end)
    objective = TranslationObjective(label_smoothing=0.0)

    def our_loss(batch: TranslationBatch) -> torch.Tensor:
        return scaled_total(objective(ours, batch), objective.counts(batch))

    def their_loss(batch: TranslationBatch) -> torch.Tensor:
        return theirs(**marian_inputs(batch)).loss

    first = next(feed).micro_batches[0]
    with torch.no_grad():
        ours.eval(), theirs.eval()
        apart = abs(float(our_loss(first)) - float(their_loss(first)))
        ours.train(), theirs.train()
    print(f"same weights, same batch: losses differ by {apart:.1e}")
    if apart > 1e-4:
        raise SystemExit("the two models are not the same; the comparison would mean nothing")

    sides = {"regard": stepper(ours, our_loss), "marian": stepper(theirs, their_loss)}
    for step in sides.values():
        step(first)  # warm-up
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    tokens = []
    for number in range(arguments.steps):
        batch = next(feed).micro_batches[0]
        tokens.append(batch.labels.numel())
        for name in list(sides) if number % 2 else list(sides)[::-1]:
            seconds[name].append(sides[name](batch))
    speed = {name: statistics.median(n / s for n, s in zip(tokens, each)) for name, each in seconds.items()}
    ratio = statistics.median(theirs / ours for ours, theirs in zip(seconds["regard"], seconds["marian"]))
    result = {
        "parameters": sum(parameter.numel() for parameter in ours.parameters()),
        "steps": arguments.steps,
        "target_tokens_per_second": {name: round(value) for name, value in speed.items()},
        "ratio": round(ratio, 3),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, torch {torch.__version__}",
    }
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
