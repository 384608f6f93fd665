"""Results of a language model as frozen values."""

import math

import pytest

from regard.pipelines.inputs import SingleText
from regard.tasks.language_model.options import PromptRow
from regard.tasks.language_model.results import Completion, TextScore


def test_log_probabilities_are_summed():
    completion = Completion(PromptRow("a"), "b", ("b", "c"), (4, 5), (-0.5, -1.25), "length")
    assert completion.log_probability == -1.75 and completion.samples == ()


def test_the_metrics_of_a_text_follow_from_its_log_probabilities():
    score = TextScore(SingleText("Größe zählt"), ("Größe", "zä", "hlt"), (4, 5, 6), (-1.0, -2.0, -3.0))
    assert score.log_probability == -6
    assert score.perplexity == pytest.approx(math.exp(6 / 3))
    assert score.word_perplexity == pytest.approx(math.exp(6 / 2))
    assert score.bits_per_byte == pytest.approx(6 / math.log(2) / len("Größe zählt".encode()))
