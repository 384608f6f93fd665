"""Signs that a model has collapsed, measured while it is validated."""

import numpy as np
import torch

import regard
from regard.inspection.attention_focus import attention_focus
from regard.progress import Progress
from regard.tasks.translate.prepare import share_of_commonest
from small import random_pairs, small_transformer


def test_most_outputs_are_one_and_the_same():
    references = [f"sentence {number}" for number in range(10)]
    assert share_of_commonest(references, references) == 0.1
    assert share_of_commonest(["a man"] * 8 + ["x", "y"], references) == 0.8
    assert share_of_commonest(["yes"] * 10, ["yes"] * 10) == 0.0  # what ought to be the same may be
    assert share_of_commonest(["a"] * 4, references[:4]) == 0.0  # too few to tell


def test_focus_lies_between_a_look_at_all_and_a_look_at_one():
    batch = random_pairs(20).batch(np.arange(10))
    model = small_transformer()
    usual = attention_focus(model, batch)
    assert usual is not None and 0.05 < usual < 1
    with torch.no_grad():
        for block in model.decoder.blocks:
            block.cross.query.weight.zero_()
            block.cross.query.bias.zero_()
    assert abs(attention_focus(model, batch)) < 1e-6
    with torch.no_grad():
        block.cross.query.bias.fill_(50.0)
    assert attention_focus(model, batch) > 0.8


def test_padding_does_not_change_focus():
    pairs = random_pairs(20)
    model = small_transformer()
    rows = np.array([3, 5, 9])
    alone = [attention_focus(model, pairs.batch(rows[[place]])) for place in range(3)]
    assert len(set(alone)) == 3
    short = rows[[int(np.argmin(pairs.source.lengths[rows]))]]
    long = rows[[int(np.argmax(pairs.source.lengths[rows]))]]
    batch = pairs.batch(np.concatenate([short, long]))
    batch.target_mask[1] = False  # only the short one counts, beside a long one
    assert abs(attention_focus(model, batch) - attention_focus(model, pairs.batch(short))) < 1e-5


def test_a_run_that_says_the_same_whatever_it_is_told_is_named(tmp_path, pairs):
    warned = []
    telling = Progress()
    telling.warn = warned.append
    settings = {
        "model": {"preset": "transformer-tiny", "width": 16, "feed_forward_width": 32},
        "model.encoder_layers": 1,
        "model.decoder_layers": 1,
        "text.kind": "word",
        "text.size": 60,
        "train": {"tokens_per_update": 300, "steps": 40, "warmup": 5, "validate_every": 40, "learning_rate": 1e-2},
        "validation.bleu_sentences": 50,
        "data.valid_fraction": 0.2,
    }
    unrelated = [(pair.source, f"so it goes on {number}") for number, pair in enumerate(pairs)]
    run = regard.train(unrelated, settings, out=tmp_path / "run", progress=telling)
    (words,) = [words for words in warned if "so the model may have collapsed" in words]
    assert words.startswith("step 40: ") and "% of the outputs on validation sentences are identical" in words
    assert '"valid_attention_focus"' in (run.path / "metrics.jsonl").read_text()
