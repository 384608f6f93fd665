"""Every family learns to reverse short strings in under a minute on a CPU."""

import random

import pytest

import regard
from regard.models import FAMILIES

LETTERS = "abcdefghij"

PRESETS = {"transformer": ["transformer-tiny"]}


def strings(count, seed):
    draw = random.Random(seed)
    words = ("".join(draw.choice(LETTERS) for _ in range(draw.randint(2, 7))) for _ in range(count))
    return [(word, word[::-1]) for word in words]


def test_every_family_is_here():
    assert set(PRESETS) == set(FAMILIES)


@pytest.mark.parametrize("preset", [name for names in PRESETS.values() for name in names])
def test_it_learns_to_reverse_strings(preset, tmp_path):
    settings = {
        "model": {"preset": preset, "width": 64, "encoder_layers": 2, "decoder_layers": 2, "feed_forward_width": 128},
        "model.dropout": 0.0,
        "model.embedding_dropout": 0.0,
        "text.kind": "char",
        "objective.label_smoothing": 0.0,
        "train": {"steps": 500, "tokens_per_update": 700, "learning_rate": 4e-3, "warmup": 60, "schedule": "cosine"},
        "train.validate_every": 250,
        "train.patience": 0,
        "validation.bleu_sentences": 0,
    }
    run = regard.train(strings(6000, seed=1), settings, out=tmp_path / "run")
    unseen = strings(200, seed=2)
    answers = regard.load(run.best)([source for source, _ in unseen], beams=1)
    right = sum(answer.text == target for answer, (_, target) in zip(answers, unseen, strict=True))
    assert right >= 190
