"""Races of translators: the pairs they share, and what is measured on each of them."""

import tomllib
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib import resources
from typing import Any

import numpy as np
import torch

from regard.checkpoint.bundle import Bundle
from regard.data.sources.pair import Pair
from regard.data.sources.pairs import read_references
from regard.errors import RunError
from regard.models.base.protocols import Vocabularies
from regard.models.families import build_model
from regard.progress import SILENT, Progress
from regard.runs.preflight import preflight
from regard.runs.scores.passport import FOLDER, Passport, read_passport
from regard.runs.store.folder import Run
from regard.studies.doctor.trial import TrialSetup
from regard.studies.race.figures.alignment import alignment, pick_sentence
from regard.studies.race.figures.bleu_by_length import bleu_by_length
from regard.studies.race.figures.gradient_reach import LONGEST, gradient_reach
from regard.studies.race.figures.timing import time_by_length
from regard.tasks.data import Prepared
from regard.tasks.load import load_translator
from regard.tasks.translate.data import TranslationData
from regard.tasks.translate.evaluate import EvalSet, encode_pairs
from regard.tasks.translate.prepare import load_data, new_bundle, prepare_pairs
from regard.training.device.machine import Machine, prepare_machine


class SharedData:
    """Prepares every member of a race from the same material."""

    def __init__(self, settings: Any, progress: Progress = SILENT) -> None:
        self.settings, self.progress = settings, progress
        self._material: TranslationData | None = None

    @property
    def material(self) -> TranslationData:
        """What there is to learn from, gathered when it is first asked for."""
        if self._material is None:
            self._material = load_data(self.settings, prepare_machine(self.settings.machine), self.progress)
            if self.settings.preflight and self.progress is not SILENT:
                preflight(self._material, self.progress)
        return self._material

    @property
    def tokens(self) -> int:
        """How many target tokens an epoch has."""
        return int(self.material.encoded.target.lengths.sum())

    @property
    def held_out(self) -> EvalSet:
        """The set that members are measured on: the first test set, or the validation set where there is none."""
        for name, pairs in self.material.read.tests.items():
            return EvalSet(name, pairs, read_references(self.settings.data.test[name], pairs))
        return EvalSet("valid", self.material.valid, [[pair.target] for pair in self.material.valid])

    def of(self, settings: Any, machine: Machine, resumed: Bundle | None = None) -> TranslationData:
        """Return the material with a member's own settings and model."""
        bundle = resumed or new_bundle(settings, self.material.bundle.tokenizers, machine)
        return replace(self.material, settings=settings, bundle=bundle)

    def prepare(
        self,
        settings: Any,
        machine: Machine,
        progress: Progress = SILENT,
        resumed: Bundle | None = None,
        given: Sequence[Pair] | None = None,
    ) -> Prepared:
        """Make a member ready, as the task would have done for a run of its own."""
        return prepare_pairs(self.of(settings, machine, resumed), machine)

    def bench(self, settings: Any) -> TrialSetup:
        """Return all it takes to try a member out."""
        machine = prepare_machine(settings.machine)
        material = self.of(settings, machine)
        return TrialSetup(material, prepare_pairs(material, machine), machine)


def common_length(members: Sequence[Any]) -> dict[str, int]:
    """Return the longest sentence that every member takes: all are to learn from the same pairs."""
    limits = []
    for settings in members:
        with torch.device("meta"):
            model: Any = build_model(settings.model, Vocabularies(8, 8, settings.text.vocabularies == "shared"))
        limits += [settings.data.cleaning.max_tokens, model.max_positions or settings.data.cleaning.max_tokens]
    return {"data.cleaning.max_tokens": min(limits)}


def measure_translator(run: Run, held_out: EvalSet, device: str) -> dict[str, Any]:
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
        if facts["set"] == name and facts.get("decode") == decode:
            return read_passport(run.path / FOLDER / f"{stem}.json")
    raise RunError(f"{run.path}: its scores on {name} are gone; regard evaluate {run.path} writes them anew.")


def facts(record: dict[str, Any], measured: dict[str, Any]) -> dict[str, Any]:
    """Return what there is to tell about the sentences of a race."""
    score = next(iter(record["scores"].values()))
    return {
        "sentences": score["sentences"],
        "signature": score["scores"][0]["signature"],
        "decode": record["settings"]["decode"],
        "sentence": measured["sentence"],
        "published": ladder(),
    }


def figures(record: dict[str, Any], metrics: list[dict[str, Any]], measured: dict[str, Any]) -> dict[str, Any]:
    """Return a member's own figures."""
    score = next(iter(record["scores"].values()))
    values = {each["name"]: each["value"] for each in score["scores"]}
    return {
        "decode": record["settings"]["decode"],
        "bleu": values["BLEU"],
        "chrf": values["chrF"],
        "ter": values["TER"],
        "loss": score["loss"],
        "perplexity": score["perplexity"],
        "too_long": score["too_long"],
        "all_sets": {name: each["scores"][0]["value"] for name, each in record["scores"].items()},
        "curve": [
            {
                "step": line["step"],
                "seconds": line["seconds"],
                "bleu": line.get("valid_bleu"),
                "loss": line["valid_loss"],
            }
            for line in metrics
            if {"valid_loss", "seconds"} <= line.keys()
        ],
        "lengths": measured["lengths"],
        "reach": measured["reach"],
        "alignment": measured["alignment"],
        "times": {
            "sentences_per_second": score["sentences_per_second"],
            "by_length": measured["step_times"],
        },
    }


def ladder() -> dict[str, Any]:
    """Return the published ladder as its file has it."""
    file = resources.files("regard.studies.race") / "ladder.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
