"""Small translation runs to check: clean ones and damaged ones."""

import json

import pytest

from regard import miniature
from regard.data.sources.pair import Pair
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.studies.race.disciplines import SharedData
from regard.tasks.init_from import run_context
from regard.tasks.translate.task import TASK
from regard.training.device.machine import prepare_machine

SMALL = {
    "model.preset": "transformer-tiny",
    "model.width": 16,
    "model.feed_forward_width": 32,
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "text.size": 700,
    "train.tokens_per_update": 400,
    "train.steps": 500,
    "train.warmup": 50,
    "train.validate_every": 100,
    "validation.bleu_sentences": 0,
    "decode.beam_size": 1,
}


@pytest.fixture(scope="session")
def sound() -> dict[str, list[Pair]]:
    """A training, a validation and a test set that nothing is wrong with."""
    counts = {"train": 2000, "valid": 250, "test": 150}
    return {split: [Pair(*pair) for pair in miniature.pairs(split, count)] for split, count in counts.items()}


@pytest.fixture
def write(tmp_path):
    """Write sets to files and return the settings of a run on them."""

    def write(sets, **changes):
        sources = {}
        for name, pairs in sets.items():
            path = tmp_path / f"{name}.jsonl"
            path.write_text("".join(json.dumps(Pair(*pair)._asdict()) + "\n" for pair in pairs))
            group = {"train": "data.train", "valid": "data.valid"}.get(name, f"data.test.{name}")
            sources[f"{group}.path"] = str(path)
        return SMALL | sources | {name.replace("__", "."): value for name, value in changes.items()}

    return write


@pytest.fixture
def material(write):
    """Read and encode sets, as a run would."""

    def material(sets, **changes):
        settings = resolve_run(find_recipe("translate"), write(sets, **changes)).settings
        return TASK.load_data(settings, run_context(settings, prepare_machine(settings.machine)))

    return material


@pytest.fixture
def setup(write):
    """Prepare a run for trials."""

    def setup(sets, **changes):
        settings = resolve_run(find_recipe("translate"), write(sets, **changes)).settings
        return SharedData(settings).trial_setup(settings)

    return setup


def shifted(pairs, begin, end, lines=1):
    """Move the targets of some pairs up, so that each stands beside an earlier source."""
    targets = [pair.target for pair in pairs]
    part = targets[begin:end]
    targets[begin:end] = part[lines:] + part[:lines]
    return [Pair(pair.source, target) for pair, target in zip(pairs, targets, strict=True)]


@pytest.fixture
def shift():
    return shifted
