"""Scores of given tokens under a causal language model, against one forward pass."""

import torch
from torch.testing import assert_close

from language import small_language_model
from regard.decoding import scoring
from regard.decoding.scoring import label_scores
from regard.models.gpt.model import GptSettings
from small import VOCABULARY, random_tokens

SETTINGS = GptSettings(width=16, heads=4, layers=1, feed_forward_width=24, max_positions=20)


def test_scores_and_alternatives_are_those_of_the_forward_pass(monkeypatch):
    model, tokens = small_language_model(SETTINGS), random_tokens(2, 6)
    positions, labels = torch.tensor([0, 4, 7, 10]), torch.tensor([5, 6, 7, 8])
    with torch.no_grad():
        log_p = model(tokens).flatten(0, 1)[positions].float().log_softmax(-1)
    for logits_at_once in (2**22, VOCABULARY * 3, 1):  # at once, in two chunks, one by one
        monkeypatch.setattr(scoring, "LOGITS_AT_ONCE", logits_at_once)
        scores = label_scores(model, tokens, positions, labels, count=3)
        assert_close(scores.log_probabilities, log_p[range(4), labels], atol=1e-6, rtol=1e-5)
        assert_close(
            scores.best_log_probabilities, log_p.sort(1, descending=True).values[:, :3], atol=1e-6, rtol=1e-5
        )
        assert_close(log_p.gather(1, scores.best), scores.best_log_probabilities, atol=1e-6, rtol=1e-5)


def test_padding_after_the_last_position_changes_nothing():
    model, tokens = small_language_model(SETTINGS), random_tokens(1, 6)
    other = tokens.clone()
    other[0, 4:] = 7
    first, second = (label_scores(model, each, torch.arange(4), torch.arange(5, 9)) for each in (tokens, other))
    assert_close(first.log_probabilities, second.log_probabilities)
    assert first.best.shape == (4, 0)
