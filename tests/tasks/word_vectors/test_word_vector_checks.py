"""The doctor checks the text of word vectors, and tries an ELMo out like other models."""

import pytest

from regard import miniature
from regard.errors import ConfigError
from regard.studies.doctor.examine import doctor


@pytest.fixture
def examine(tmp_path, monkeypatch):
    """Write stories to a file and return a function that calls the doctor on it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("\n\n".join(miniature.documents("train", 60)), encoding="utf-8")

    def examine(task, changes, **options):
        return doctor(task, {"data.train.paths": ["text.txt"]} | changes, **options)

    return examine


def test_too_few_words_and_words_without_vectors_are_reported_with_a_remedy(examine):
    report = examine("vectors", {"text.min_count": 40})
    (few,), (rare,) = report.find("few-words"), report.find("left-out-words")
    assert few.severity == "warning" and "too few for good neighbors" in few.sentence
    assert rare.severity == "warning" and rare.way_out == "take rarer words too: text.min_count=20"
    assert rare.metrics["fraction"] > 0.1
    (kept,) = examine("vectors", {"text.min_count": 1}).find("left-out-words")
    assert kept.severity == "ok" and kept.sentence == "100.0 % of the text's words have vectors."


def test_the_rate_of_word_vectors_is_not_swept(examine):
    with pytest.raises(
        ConfigError, match="--lr-finder: word vectors have their own trainer, without a learning-rate range test"
    ):
        examine("vectors", {}, lr_finder=True)


def test_an_elmo_is_examined_too(examine):
    report = examine(
        "elmo", {"model.preset": "elmo-tiny", "text.words": 200, "data.train.documents": "blank-lines"}, quick=True
    )
    assert not report.has_problem
