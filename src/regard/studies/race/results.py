"""What is measured on each member of a race, and all of it in one value."""

import statistics
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from regard.errors import RunError
from regard.pipelines import load_translator
from regard.studies.evaluate import HeldOut, encode_pairs
from regard.studies.passport import FOLDER, Passport, read_passport
from regard.studies.race.alignment import alignment, pick_sentence
from regard.studies.race.folder import Race
from regard.studies.race.lengths import bleu_by_length
from regard.studies.race.reach import LONGEST, gradient_reach
from regard.studies.race.timing import time_by_length
from regard.studies.run import Run
from regard.training.reports import METRICS, read_metrics
from regard.version import __version__

FORMAT = 1


def measure_member(run: Run, held_out: HeldOut, device: str) -> dict[str, Any]:
    """Return what only a look into the model itself can tell, beside the scores of its run."""
    translator = load_translator(run.best, device)
    encoded = encode_pairs(translator, held_out.pairs)
    passport = _passport(run, held_out.name)
    lengths = (encoded.source.lengths - 1).tolist()  # the end token is no word
    bound = min(translator.bound or LONGEST, LONGEST)
    fits = np.flatnonzero((encoded.source.lengths <= bound) & (encoded.target.lengths <= bound))
    sentence = pick_sentence(held_out.pairs, encoded)  # the same for every member, however long its sequences may be
    return {
        "lengths": [asdict(each) for each in bleu_by_length(lengths, passport.hypotheses, held_out.references)],
        "reach": gradient_reach(translator.model, encoded.select(fits), translator.device),
        "sentence": {"source": sentence.source, "target": sentence.target},
        "alignment": alignment(translator, sentence),
        "step_times": time_by_length(translator.model, translator.bundle.vocabularies, translator.device),
    }


def _passport(run: Run, name: str) -> Passport:
    """Return the scores with hypotheses that the run's end left for a set."""
    decode = run.record["settings"]["decode"]
    for stem, facts in run.passports.items():
        if facts["set"] == name and facts["decode"] == decode:
            return read_passport(run.path / FOLDER / f"{stem}.json")
    raise RunError(f"{run.path}: its scores on {name} are gone; regard evaluate {run.path} writes them anew.")


def collect(
    race: Race, failed: dict[str, str], measured: dict[str, dict[str, Any]], order: Sequence[str]
) -> dict[str, Any]:
    """Return everything that is known about a race, as plain values; what a clock says stands under `times`."""
    record = race.record
    ended = [name for name in order if name in measured]
    first = race.run(ended[0]).record
    settings = first["settings"]
    return {
        "format": FORMAT,
        "name": race.path.name,
        "is_finished": race.is_finished,
        "recipe": record["asked"]["recipe"],
        "budget": record["asked"]["budget"],
        "vary": record["asked"]["vary"],
        "seed": settings["seed"],
        "set": next(iter(first["scores"])),
        "sentences": next(iter(first["scores"].values()))["sentences"],
        "signature": next(iter(first["scores"].values()))["scores"][0]["signature"],
        "decode": settings["decode"],
        "data": first["data"],
        "tokenizer": settings["text"],
        "tokens_per_update": settings["train"]["tokens_per_update"],
        "machine": first["machine"],
        "regard": __version__,
        "sentence": measured[ended[0]]["sentence"],
        "members": [_member(race.run(name), record["plan"][name], measured[name]) for name in ended],
        "waiting": [name for name in order if name not in measured and name not in failed],
        "failed": failed,
        "published": ladder(),
    }


def _member(run: Run, planned: dict[str, Any], measured: dict[str, Any]) -> dict[str, Any]:
    record, metrics = run.record, read_metrics(run.path / METRICS)
    score = next(iter(record["scores"].values()))
    values = {each["name"]: each["value"] for each in score["scores"]}
    speeds = [line["tokens_per_second"] for line in metrics if "tokens_per_second" in line]
    about = record["settings"]["train"]["tokens_per_update"] * record["steps"] / max(record["seconds"], 0.1)
    return {
        "name": run.path.name,
        "run": str(Path("runs") / run.path.name),
        "preset": record["settings"]["model"]["preset"],
        "decode": record["settings"]["decode"],
        "parameters": record["parameters"],
        "state": record["state"],
        "steps": record["steps"],
        "best_step": record["best_step"],
        "bleu": values["BLEU"],
        "chrf": values["chrF"],
        "ter": values["TER"],
        "loss": score["loss"],
        "perplexity": score["perplexity"],
        "all_sets": {name: each["scores"][0]["value"] for name, each in record["scores"].items()},
        "curve": [
            {
                "step": line["step"],
                "seconds": line["seconds"],
                "bleu": line.get("valid_bleu"),
                "loss": line["valid_loss"],
            }
            for line in metrics
            if "valid_loss" in line
        ],
        "lengths": measured["lengths"],
        "reach": measured["reach"],
        "alignment": measured["alignment"],
        "times": {
            "seconds": record["seconds"],
            "planned_seconds_per_step": planned["seconds_per_step"],
            "tokens_per_second": statistics.median(speeds) if speeds else about,
            "sentences_per_second": score["sentences_per_second"],
            "by_length": measured["step_times"],
        },
    }


def ladder() -> dict[str, Any]:
    """Return the published ladder as its file has it."""
    file = resources.files("regard.studies.race") / "ladder.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
