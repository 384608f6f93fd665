"""A small BERT learns what masked words must be, and which text follows which, in seconds on a CPU."""

import numpy as np

import regard

NAMES = ("mia", "tom", "eva", "jan", "lea", "max", "ida", "ben")
COLOURS = ("red", "blue", "green", "white", "black", "brown")
ANIMALS = ("cat", "dog", "cow", "hen", "fox", "owl")
SENTENCES = (
    "{0} has a {1} {2}.",
    "The {1} {2} likes {0}.",
    "{0} feeds the {1} {2}.",
    "A {1} {2} sleeps.",
    "Now the {1} {2} sees {0}.",
)
SETTINGS = {
    "text.size": 120,
    "model": {"preset": "bert-tiny", "width": 64, "feed_forward_width": 128, "max_positions": 64},
    "model.dropout": 0.0,
    "model.embedding_dropout": 0.0,
    "model.attention_dropout": 0.0,
    "train": {"steps": 250, "tokens_per_update": 1536, "warmup": 20, "learning_rate": 4e-3, "validate_every": 125},
}


def about_one_animal(draw):
    """Return a text whose words follow from the others: it is about one name, one color and one animal."""
    words = [list(each)[draw.integers(len(each))] for each in (NAMES, COLOURS, ANIMALS)]
    return " ".join(SENTENCES[number].format(*words).capitalize() for number in draw.permutation(len(SENTENCES)))


def test_masked_words_and_next_sentences_are_learned(tmp_path):
    draw = np.random.default_rng(0)
    path = tmp_path / "animals.txt"
    path.write_text("\n\n".join(about_one_animal(draw) for _ in range(2000)), encoding="utf-8")
    own = {"data.train.paths": [str(path)], "data.folder": str(tmp_path / "corpus")}
    run = regard.train("masked-language-model", SETTINGS | own, out=tmp_path / "run")
    scores = run.record.scores["valid"]
    assert scores["majority_baseline"] < 0.25 and scores["masked_accuracy"] > 1.8 * scores["majority_baseline"]
    assert scores["next_sentence_accuracy"] > 0.8
