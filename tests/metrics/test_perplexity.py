import math
from dataclasses import dataclass

import pytest

from regard.metrics.perplexity import bits_per_byte, perplexity, word_perplexity


@dataclass
class Scored:
    text: str
    log_probabilities: tuple[float, ...]


HALF, QUARTER = math.log(0.5), math.log(0.25)
SCORES = [Scored("a bä", (HALF, HALF, QUARTER)), Scored("c", (QUARTER,))]  # 6 bits over 4 tokens, 3 words, 6 bytes


def test_perplexity_is_a_mean_over_all_tokens_words_or_bytes():
    assert perplexity(SCORES) == pytest.approx(2 ** (6 / 4))
    assert word_perplexity(SCORES) == pytest.approx(2 ** (6 / 3))
    assert bits_per_byte(SCORES) == pytest.approx(6 / 6)


def test_a_uniform_model_has_the_size_of_its_vocabulary_as_perplexity():
    assert perplexity([Scored("", (-math.log(50),) * 9)]) == pytest.approx(50)


def test_nothing_to_score_is_no_number_and_an_impossible_text_stays_finite():
    for metric in (perplexity, word_perplexity, bits_per_byte):
        assert math.isnan(metric([]))
        assert math.isnan(metric([Scored(" ", ())])) or metric is bits_per_byte
    assert math.isfinite(perplexity([Scored("a", (-1e9,))]))
