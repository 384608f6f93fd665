"""Signs that a model has collapsed, measured while it is validated."""

import regard
from regard.progress import Progress
from regard.tasks.translate.prepare import duplicate_fraction


def test_most_outputs_are_one_and_the_same():
    references = [f"sentence {number}" for number in range(10)]
    assert duplicate_fraction(references, references) == 0.1
    assert duplicate_fraction(["a man"] * 8 + ["x", "y"], references) == 0.8
    assert duplicate_fraction(["yes"] * 10, ["yes"] * 10) == 0.0  # what ought to be the same may be
    assert duplicate_fraction(["a"] * 4, references[:4]) == 0.0  # too few to tell


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
    run = regard.train("translate", settings, data=unrelated, out=tmp_path / "run", progress=telling)
    (words,) = [words for words in warned if "are identical" in words]
    assert words.startswith("step 40: ")
    assert "% of the outputs on validation sentences are identical; 40 updates are few" in words
    assert '"valid_attention_focus"' in (run.path / "metrics.jsonl").read_text()
