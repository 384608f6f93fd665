"""A small ELMo learns in seconds what comes before and behind a word, and what a word means where it stands."""

import numpy as np

import regard

RIVER = "the {0} flows by the green bank . we sit on the bank and see the {0} ."
MONEY = "the bank lends {0} coins to us . we owe the bank {0} coins ."
SETTINGS = {
    "model": {"preset": "elmo-tiny", "width": 24, "cell_width": 48, "dropout": 0.0},
    "window": 24,
    "train": {"steps": 120, "tokens_per_update": 512, "warmup": 10, "learning_rate": 1e-2, "validate_every": 60},
}


def test_both_directions_and_two_meanings_are_learned(tmp_path):
    draw = np.random.default_rng(0)
    lines = [
        RIVER.format(draw.choice(["rhine", "elbe", "thames"]))
        if draw.random() < 0.5
        else MONEY.format(draw.choice(["two", "ten", "six"]))
        for _ in range(1500)
    ]
    path = tmp_path / "banks.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    own = {"data.train": {"paths": [str(path)], "documents": "lines"}, "data.folder": str(tmp_path / "corpus")}
    run = regard.train("elmo", SETTINGS | own, out=tmp_path / "run")
    scores = run.record.scores["valid"]
    assert scores["forward_perplexity"] < 1.5 and scores["backward_perplexity"] < 1.5
    elmo = regard.load(run.path)
    river, other, money = (
        "we sit on the bank and see the elbe .",
        "we sit on the bank and see the rhine .",
        "we owe the bank ten coins .",
    )
    alike = elmo.similar_words((river, "bank"), (other, "bank")).in_context
    apart = elmo.similar_words((river, "bank"), (money, "bank"))
    assert apart.without_context > 0.999 and apart.in_context < alike - 0.05
