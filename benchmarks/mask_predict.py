"""Mask-predict against beam search: BLEU and sentences a second, with and without a teacher.

    python benchmarks/mask_predict.py --data multi30k --out runs/mask-predict --device cuda

DIR of --data holds train, val and test_2016_flickr as .de.gz and .en.gz. A Transformer (recipe translate-30k) is the
teacher, or one that is there (--teacher RUN); it translates the training set with beam 5, and two students of the
recipe mask-predict-30k learn from these translations and from the original ones. Then every side decodes batches of
64 in turns, the median counts, and beam 5 is measured in both precisions. What is there already is not made again.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

import regard
from regard.data.sources.lines import read_lines
from regard.metrics.translation import translation_scores
from regard.reporting.bars import bars

BATCH, TIMED = 64, 512
Side = tuple[Any, dict[str, Any]]


def train(recipe: str, source: Path, target: Path, given: argparse.Namespace, name: str) -> str:
    """Return a run of a recipe on pairs; one that is there is taken."""
    out = given.out / name
    if not (out / "run.json").is_file():
        changes = {"data.train.source": str(source), "data.train.target": str(target)}
        for side, language in (("source", given.source), ("target", given.target)):
            changes[f"data.valid.{side}"] = str(given.data / f"val.{language}.gz")
        changes |= {"machine.device": given.device} | ({"train.steps": given.steps} if given.steps else {})
        regard.train(recipe, changes | json.loads(given.set), out=out, progress=bars())
    return str(out)


def distil(teacher: str, source: Path, given: argparse.Namespace) -> Path:
    """Return a file with what the teacher makes of a text, line by line."""
    out = given.out / f"distilled.{given.target}"
    if not out.is_file():
        translations = regard.load(teacher, device=given.device)(read_lines(source), beam_size=5, progress=bars())
        out.write_text("".join(" ".join(each.text.split()) + "\n" for each in translations), encoding="utf-8")
    return out


def bleu(translator: Any, sources: list[str], references: list[str], **decoding: Any) -> float:
    """Return the BLEU of translations."""
    outputs = [" ".join(each.text.split()) for each in translator(sources, **decoding)]
    return round(translation_scores(outputs, [[each] for each in references], ["BLEU"])[0].value, 2)


def seconds(side: Side, texts: list[str], device: str) -> float:
    """Return how long a side takes for texts in batches."""
    translator, decoding = side
    wait: Callable[[], None] = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    wait()
    began = time.perf_counter()
    for first in range(0, len(texts), BATCH):
        translator(texts[first : first + BATCH], **decoding)
    wait()
    return time.perf_counter() - began


def sides(runs: dict[str, str], lengths: list[int], device: str) -> Iterator[tuple[str, Side]]:
    """Yield what is compared, by name: beam 5 and mask-predict, in fp32 and (on a GPU) in bf16."""
    for precision in ("fp32", "bf16") if device.startswith("cuda") else ("fp32",):
        models = {name: regard.load(run, device=device, precision=precision) for name, run in runs.items()}
        yield f"teacher, beam 5, {precision}", (models["teacher"], {"beam_size": 5})
        for name in ("distilled", "raw"):
            for count in lengths:
                how = {"iterations": 4, "length_candidates": count}
                yield f"{name}, lengths {count}, {precision}", (models[name], how)


def main() -> None:
    """Train what is missing, measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--teacher")
    parser.add_argument("--source", default="de")
    parser.add_argument("--target", default="en")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, help="of each training; unset: those of the recipes")
    parser.add_argument("--set", default="{}", metavar="JSON", help="further settings of all trainings")
    parser.add_argument("--lengths", type=int, nargs="+", default=[1, 2, 3], help="candidates of a length")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    source, target = (given.data / f"train.{language}.gz" for language in (given.source, given.target))
    teacher = given.teacher or train("translate-30k", source, target, given, "teacher")
    runs = {"teacher": teacher, "raw": train("mask-predict-30k", source, target, given, "raw")}
    runs["distilled"] = train("mask-predict-30k", source, distil(teacher, source, given), given, "distilled")
    read = lambda part, language: read_lines(given.data / f"{part}.{language}.gz")
    texts = sorted(read("val", given.source)[:TIMED], key=len)
    asked, wanted = (read("test_2016_flickr", language) for language in (given.source, given.target))
    compared = dict(sides(runs, given.lengths, given.device))
    found = {name: bleu(side[0], asked, wanted, **side[1]) for name, side in compared.items()}
    times: dict[str, list[float]] = {name: [] for name in compared}
    for number in range(-2, given.rounds):  # the first two record
        for name, side in compared.items():
            spent = seconds(side, texts, given.device)
            times[name] += [spent] if number >= 0 else []
    medians = {name: statistics.median(each) for name, each in times.items()}
    place = torch.cuda.get_device_name() if given.device.startswith("cuda") else "a CPU"
    print(f"{place}, batches of {BATCH}, 4 passes, median of {given.rounds}")
    for name, spent in medians.items():
        beam = f"teacher, beam 5, {name.rsplit(', ', 1)[1]}"
        share = 100 * found[name] / found[beam]
        speed = f"{len(texts) / spent:8,.0f} sentences/s, {medians[beam] / spent:.2f} x"
        print(f"{name:28} BLEU {found[name]:5.2f} ({share:.0f} % of beam 5), {speed}")


if __name__ == "__main__":
    main()
