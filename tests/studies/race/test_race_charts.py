"""Plots show tokens of any characters as they are."""

import pytest

from regard.studies.race.charts import translation_plots
from regard.studies.race.translating import ladder


def results(words, name="gru"):
    """Return the least that pictures are drawn from."""
    member = {
        "name": name,
        "bleu": 1.0,
        "curve": [],
        "lengths": [],
        "reach": {"source": None, "target": None},
        "times": {"by_length": {"lengths": [], "training_ms": [], "decoding_ms": []}},
        "alignment": {"source": words, "target": words, "weights": [[1 / len(words)] * len(words)] * len(words)},
    }
    return {"members": [member], "set": "$\\a$ & <b>", "published": ladder()}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["$$", "$\\frac$"], ["$$", "$\\frac$"]),  # no formulas
        (["日本", "ا"], ["日本", "ا"]),  # no warnings about a font that lacks them
        (["<b>", "&", '"'], ["&lt;b&gt;", "&amp;", '"']),  # no markup
    ],
    ids=str,
)
def test_words_are_drawn_as_they_are(words, shown, tmp_path):
    matrix = translation_plots(results(words))[-1]
    assert matrix.png(tmp_path).stat().st_size > 1000
    drawn = matrix.svg()
    assert all(f">{word}</text>" in drawn for word in shown) and "<b>" not in drawn


def test_pictures_without_a_single_figure_can_be_drawn(tmp_path):
    """A model that takes fewer tokens than the shortest length has no times."""
    pictures = translation_plots(results(["a", "b"]))
    assert [each.name for each in pictures] == ["ladder", "alignment-gru"]
    for picture in pictures:
        assert picture.svg().startswith("<svg ") and picture.png(tmp_path).is_file()
