"""Scores of texts of any length, in windows and batches."""

import numpy as np
import pytest
import torch

from generators import settings_of
from language import small_language_model
from regard.data.encoding.sequences import Sequences
from regard.errors import ConfigError
from regard.tasks.language_model.scoring import plan_windows, text_log_probabilities


@pytest.mark.parametrize("window, stride", [(None, None), (8, None), (8, 1), (8, 8), (3, 2), (1, 1)])
def test_every_token_but_the_first_is_scored_once_with_enough_context(window, stride):
    lengths = [1, 2, 9, 10, 25, 3]
    windows = plan_windows(lengths, window, stride)
    for text, length in enumerate(lengths):
        own = [each for each in windows if each.text == text]
        assert [at + 1 for each in own for at in range(each.first, each.end)] == list(range(1, length))
        for each in own:
            assert window is None or each.end - each.begin <= window
            if each.begin and window is not None:
                assert each.first - each.begin >= window - (stride or max(1, window // 2))


def test_a_stride_must_fit_the_window():
    with pytest.raises(ConfigError, match="stride: 9 does not lie between 1 and 8"):
        plan_windows([20], 8, 9)
    with pytest.raises(ConfigError, match="stride: 2 is for models with a context window"):
        plan_windows([20], None, 2)


@pytest.mark.parametrize("limit", [1, 40, 10**6])
def test_batches_of_any_size_have_the_scores_of_each_window_alone(limit):
    model = small_language_model(settings_of("gpt")).float()
    texts = [
        np.random.default_rng(number).integers(4, 20, length).tolist() for number, length in enumerate((30, 2, 7))
    ]
    windows = plan_windows([len(text) for text in texts], 10, 4)
    scored = text_log_probabilities(model, Sequences.of(texts), windows, limit, count=3)
    assert [len(each) for each in scored] == [29, 1, 6]
    for window in windows:
        with torch.no_grad():
            log_p = model(torch.tensor([texts[window.text][window.begin : window.end]]))[0].log_softmax(-1)
        for at in range(window.first, window.end):
            value, best = scored[window.text][at]
            row = log_p[at - window.begin]
            assert value == pytest.approx(float(row[texts[window.text][at + 1]]), abs=1e-4)
            assert [number for number, _ in best] == row.topk(3).indices.tolist()
