"""Every family that reads one sequence and writes another learns to reverse short strings in under a minute."""

import random

import pytest

import regard
from regard.models.families import family, presets_of
from regard.models.presets import presets
from regard.registry import FAMILIES
from regard.tasks.translate.mask_predict import MaskPredictTranslator

LETTERS = "abcdefghij"
TRANSLATE = ("seq2seq", "conditional-masked-lm")

TRANSFORMER = {"width": 64, "encoder_layers": 2, "decoder_layers": 2, "feed_forward_width": 128}
SUMMARY = {"width": 128, "embedding_width": 64, "encoder_layers": 1}
ATTENTION = {"width": 64, "embedding_width": 32}
CONVOLUTIONS = {"width": 64, "encoder_layers": 3, "decoder_layers": 2}
SIZES = {
    "transformer-tiny": (TRANSFORMER, 250, 6),
    "mask-predict-tiny": (TRANSFORMER, 250, 6),
    "rnn": (SUMMARY, 200, 4),
    "gru": (SUMMARY, 200, 4),
    "lstm": (SUMMARY, 200, 4),
    "gru-attention": (ATTENTION, 150, 6),
    "lstm-attention": (ATTENTION, 200, 6),
    "convs2s": (CONVOLUTIONS, 200, 6),
}
"""What each preset is made small by, how many updates it gets, and how long the strings are."""


def strings(count, seed, longest, shortest=2):
    draw = random.Random(seed)
    words = ("".join(draw.choice(LETTERS) for _ in range(draw.randint(shortest, longest))) for _ in range(count))
    return [(word, word[::-1]) for word in words]


def trained(preset, sizes, steps, longest, folder):
    settings = {
        "model": {"preset": preset, **sizes},
        "model.dropout": 0.0,
        "model.embedding_dropout": 0.0,
        "text.kind": "char",
        "objective.label_smoothing": 0.0,
        "train": {
            "steps": steps,
            "tokens_per_update": 500,
            "learning_rate": 5e-3,
            "warmup": 60,
            "schedule": "cosine",
        },
        "train.validate_every": steps,
        "train.patience": 0,
        "validation.bleu_sentences": 0,
    }
    run = regard.train("translate", settings, data=strings(6000, seed=1, longest=longest), out=folder)
    return regard.load(run.best)


def share_right(translator, pairs):
    greedy = {} if isinstance(translator, MaskPredictTranslator) else {"beam_size": 1}
    answers = translator([source for source, _ in pairs], **greedy)
    return sum(answer.text == target for answer, (_, target) in zip(answers, pairs, strict=True)) / len(pairs)


def test_every_family_is_here():
    translators = {name for name in FAMILIES.names() if family(name).kind in TRANSLATE}
    assert {presets()[name].settings["family"] for name in SIZES} == translators
    assert {name for name in presets_of("seq2seq") if "transformer" not in name} <= set(SIZES)


SLOW = ("rnn", "gru", "lstm", "lstm-attention")
"""The same family as gru-attention, with another cell or without attention."""


@pytest.mark.parametrize(
    "preset", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in SIZES]
)
def test_it_learns_to_reverse_strings(preset, tmp_path):
    sizes, steps, longest = SIZES[preset]
    translator = trained(preset, sizes, steps, longest, tmp_path / "run")
    assert share_right(translator, strings(200, seed=2, longest=longest)) >= 0.95


@pytest.mark.slow
def test_a_deep_post_norm_stack_attends_to_its_source_from_the_start(tmp_path):
    deep = {"width": 32, "heads": 4, "feed_forward_width": 64}
    translator = trained("transformer-base", deep, 300, 6, tmp_path / "run")
    assert share_right(translator, strings(100, seed=2, longest=6)) >= 0.95


@pytest.mark.slow
def test_one_vector_is_a_bottleneck_and_attention_is_none(tmp_path):
    """Both are right about short strings; only with attention are they right about long ones."""
    right = {}
    for preset in ("gru", "gru-attention"):
        translator = trained(preset, ATTENTION, 200, 10, tmp_path / preset)
        for name, shortest, longest in (("short", 2, 4), ("long", 9, 10)):
            pairs = strings(100, seed=2, longest=longest, shortest=shortest)
            right[preset, name] = share_right(translator, pairs)
    assert min(right["gru", "short"], right["gru-attention", "short"]) > 0.8
    assert right["gru-attention", "long"] > right["gru-attention", "short"] - 0.3
    assert right["gru", "long"] < right["gru", "short"] - 0.6
    assert right["gru-attention", "long"] > right["gru", "long"] + 0.5
