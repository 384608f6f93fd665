"""Loss and gradients by position, of a language model."""

import math

import numpy as np
import pytest
import torch

from generators import small_model
from regard.studies.race.figures import loss_by_position


def rows(count=6, length=40):
    return np.random.default_rng(3).integers(5, 20, (count, length + 1))


@pytest.mark.parametrize("family", ["rotary", "lstm"])
def test_losses_by_position_are_those_of_the_model(family):
    model, some = small_model(family).float(), rows(length=9)
    groups = loss_by_position._by_position(model, some, torch.device("cpu"))
    assert [(each["shortest"], each["longest"]) for each in groups] == [(1, 1), (2, 3), (4, 9)]
    tokens = torch.from_numpy(some)
    with torch.no_grad():
        logits = model.project(model.hidden_states(tokens[:, :-1]))
    losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none").mean(0)
    assert groups[1]["loss"] == pytest.approx(float(losses[1:3].mean()), abs=1e-5)
    assert groups[2]["loss"] == pytest.approx(float(losses[3:].mean()), abs=1e-5)


def test_a_state_forgets_and_attention_leads_back():
    curves = {
        family: loss_by_position._reach(small_model(family).float(), rows(), torch.device("cpu"))["text"]
        for family in ("rotary", "rnn")
    }
    far = {family: curve["gradient"][5] / curve["gradient"][0] for family, curve in curves.items()}
    assert curves["rnn"]["distance"][:2] == [1.5, 5.5] and far["rnn"] < 0.1 * far["rotary"]
    assert all(math.isfinite(value) for curve in curves.values() for value in curve["gradient"])
