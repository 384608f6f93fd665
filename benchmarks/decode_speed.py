"""Decoding speed on this machine: regard against Hugging Face generate() and CTranslate2, same weights, text to text.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/decode_speed.py --run runs/mine --texts test.de --device cpu

Without --run, a model of some 11 M parameters learns for a short while from --source and --target (or from the
miniature world), long enough that its sentences end. Each side runs in a process of its own, as it is shipped; all
get the same sentences, sorted by length so that none pays for padding, and they take turns round by round, so that a
machine that slows down slows all. Logits must be equal to 1e-4 before anything is timed; how many texts are equal is
reported. CTranslate2 comes with `pip install 'regard[bench]'`; `--sides regard "generate()"` leaves it out.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from decode_sides import BUILDERS, Job, convert, tokenizers

TRAINING = {
    "text": {"size": 8000, "vocabularies": "shared"},
    "model": {
        "width": 256,
        "heads": 4,
        "feed_forward_width": 1024,
        "encoder_layers": 5,
        "decoder_layers": 5,
        "norm_order": "post",
        "positions": "sinusoidal",
    },
    "train": {"learning_rate": 4e-4, "warmup": 100, "tokens_per_update": 2048},
    "validation": {"bleu_sentences": 0},
}


def work(side: str, job: Job, pipe: Connection) -> None:
    """Be one side: translate the requested batches, and send the outputs and their duration."""
    import torch

    torch.set_num_threads(job.threads)
    translate = BUILDERS[side](job)
    pipe.send("ready")
    while batches := pipe.recv():
        started = time.perf_counter()
        found = [translate(batch) for batch in batches]
        elapsed = time.perf_counter() - started
        pipe.send((elapsed, [text for each in found for text in each.texts], sum(each.tokens for each in found)))


def train(arguments: argparse.Namespace, out: Path) -> None:
    """Train a Marian-compatible model for a short while."""
    import regard
    from regard.config.overrides import parse_overrides
    from regard.config.settings import flatten
    from regard.reporting.bars import bars

    pairs = {"source": arguments.source, "target": arguments.target}
    data = pairs if arguments.source else {"path": "miniature:train", "max_rows": 20_000}
    settings = dict(flatten({**TRAINING, "data": {"train": data}}))
    settings |= {"train.steps": arguments.steps, "train.validate_every": arguments.steps}
    settings |= {"machine.device": arguments.device, "machine.threads": arguments.threads}
    settings |= dict(flatten(parse_overrides(arguments.settings)))
    regard.train("translate", settings, out=out, progress=bars())


def logits_apart(checkpoint: Path, folder: Path, texts: list[str]) -> tuple[float, int]:
    """Return how far the logits of both models lie apart on the first texts, and how many parameters there are."""
    import torch
    from transformers import AutoModelForSeq2SeqLM

    from regard.checkpoint.bundle import read_bundle

    bundle = read_bundle(checkpoint)
    theirs = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    batch = tokenizers(str(folder))[0](texts, return_tensors="pt", padding=True)
    target = torch.randint(4, bundle.vocabularies.target, (len(texts), 24), generator=torch.manual_seed(0))
    with torch.inference_mode():
        ours = bundle.model(batch["input_ids"], batch["attention_mask"].bool(), target)
        apart = float((theirs(**batch, decoder_input_ids=target).logits - ours).abs().max())
    return apart, sum(parameter.numel() for parameter in bundle.model.parameters())


def test_texts(arguments: argparse.Namespace) -> list[str]:
    """Return the sentences to translate, by length."""
    from regard import miniature
    from regard.data.sources.lines import read_lines

    path = arguments.texts or arguments.source
    lines = read_lines(Path(path)) if path else [pair.source for pair in miniature.pairs("test", arguments.sentences)]
    lines = [line for line in lines if line.strip()][: arguments.sentences]
    return sorted(lines, key=len)


def measure(pipes: dict[str, Connection], batches: list[list[str]], rounds: int) -> list[dict]:
    """Let all sides translate the batches in turn, once to warm up, and return a row for each."""
    speeds: dict[str, list[tuple[float, float]]] = {side: [] for side in pipes}
    texts: dict[str, list[str]] = {}
    sentences = sum(map(len, batches))
    for number in range(rounds + 1):
        for side in list(pipes) if number % 2 else list(pipes)[::-1]:
            pipes[side].send(batches)
            elapsed, texts[side], tokens = pipes[side].recv()
            name = f"round {number}" if number else "warm-up"
            print(f"batch {len(batches[0])}, {name}, {side}: {elapsed:.1f} s", file=sys.stderr, flush=True)
            if number:
                speeds[side].append((sentences / elapsed, tokens / elapsed))
    first = next(iter(pipes))
    return [
        {
            "batch": len(batches[0]),
            "side": side,
            "sentences_per_second": round(statistics.median(each for each, _ in speeds[side]), 2),
            "tokens_per_second": round(statistics.median(each for _, each in speeds[side]), 1),
            f"{first}_is_faster_by": round(
                statistics.median(a / b for (a, _), (b, _) in zip(speeds[first], speeds[side], strict=True)), 3
            ),
            "equal_texts": sum(map(str.__eq__, texts[first], texts[side])) / sentences,
        }
        for side in pipes
    ]


def print_table(rows: list[dict]) -> None:
    """Print the rows for people, on standard error."""
    names = list(rows[0])
    cells = [names, *([str(row[name]) for name in names] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(names))]
    for row in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)), file=sys.stderr)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="a run or checkpoint that `regard export` takes; unset: train one")
    parser.add_argument("--keep", type=Path, help="without --run: keep the trained run here")
    parser.add_argument("--source", help="line-aligned training text (.gz too); unset: the miniature world")
    parser.add_argument("--target")
    parser.add_argument("--steps", type=int, default=300, help="updates to train for without --run")
    parser.add_argument(
        "--texts", help="sentences to translate (.gz too); unset: those of --source or miniature:test"
    )
    parser.add_argument("--sentences", type=int, default=512)
    parser.add_argument("--singles", type=int, default=32, help="sentences to translate one by one")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument(
        "--sides", nargs="+", choices=BUILDERS, default=list(BUILDERS), help="the first is compared with"
    )
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    parser.add_argument("--settings", nargs="*", default=[], metavar="KEY=VALUE", help="of the model to train")
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from regard.checkpoint.bundle import read_bundle
    from regard.checkpoint.store import find_checkpoint
    from regard.interop.huggingface.write import write

    if "ctranslate2" in arguments.sides and find_spec("ctranslate2") is None:
        raise SystemExit("ctranslate2 is not installed: pip install 'regard[bench]', or leave it out of --sides.")
    texts = test_texts(arguments)
    context = get_context("spawn")
    with tempfile.TemporaryDirectory() as place:
        run = arguments.run or arguments.keep or Path(place) / "run"
        if not arguments.run:
            train(arguments, run)
        checkpoint, folder, converted = find_checkpoint(run), Path(place) / "hf", Path(place) / "ctranslate2"
        form = write(read_bundle(checkpoint), folder)
        apart, parameters = logits_apart(checkpoint, folder, texts[:8])
        print(f"{form.architecture}, {parameters:,} parameters: logits differ by {apart:.1e}", file=sys.stderr)
        if apart > 1e-4:
            raise SystemExit("the models are not the same; the comparison would mean nothing")
        if "ctranslate2" in arguments.sides:
            convert(folder, converted)
        job = Job(
            str(checkpoint), str(folder), str(converted), arguments.device, arguments.threads, arguments.beam_size
        )
        pipes: dict[str, Connection] = {}
        for side in arguments.sides:
            pipes[side], there = context.Pipe()
            context.Process(target=work, args=(side, job, there), daemon=True).start()
        for pipe in pipes.values():
            pipe.recv()
        size = arguments.batch
        rows = measure(pipes, [texts[at : at + size] for at in range(0, len(texts), size)], arguments.rounds)
        singles = texts[:: max(1, len(texts) // arguments.singles)][: arguments.singles]
        rows += measure(pipes, [[text] for text in singles], arguments.rounds)
        for pipe in pipes.values():
            pipe.send(None)
    print_table(rows)
    import torch

    result = {
        "model": {"form": form.name, "parameters": parameters, "logits_apart": apart},
        "rows": rows,
        "device": arguments.device,
        "beam_size": arguments.beam_size,
        "sentences": {"batch": len(texts), "single": len(singles)},
        "rounds": arguments.rounds,
        "machine": f"{platform.machine()}, {arguments.threads} threads, torch {torch.__version__}",
    }
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
