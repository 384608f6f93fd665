"""Edits of attention: a switched head adds nothing, an overwritten weight has its value, and the rest stays."""

import pytest
import torch
from torch.testing import assert_close

from regard.errors import ConfigError
from regard.inspection.interventions import Edit, edited, overwritten
from small import random_tokens, small_transformer


def run(model, source, target):
    with torch.inference_mode():
        return model.decode(target, model.encode(source, torch.ones_like(source, dtype=torch.bool)))


@pytest.fixture
def parts():
    return small_transformer().eval(), random_tokens(1, 6), random_tokens(1, 5)


def test_a_row_keeps_its_ratios_and_adds_up_to_one():
    row = torch.tensor([[0.5, 0.3, 0.2]])
    changed = overwritten(row, 0, 0.9)
    assert_close(changed, torch.tensor([[0.9, 0.06, 0.04]]))
    assert_close(overwritten(torch.tensor([[1.0, 0.0, 0.0]]), 0, 0.4), torch.tensor([[0.4, 0.3, 0.3]]))


def test_a_head_off_is_a_head_whose_columns_of_the_output_matrix_are_zero(parts):
    model, source, target = parts
    with edited(model, [Edit("cross", 0, head=1)]):
        without = run(model, source, target)
    before = run(model, source, target)
    cross = model.decoder.blocks[0].cross
    with torch.no_grad():
        cross.output.weight[:, cross.head_width : 2 * cross.head_width] = 0
    assert not torch.allclose(without, before)
    assert_close(without, run(model, source, target), atol=1e-5, rtol=0)


def test_an_overwritten_weight_is_recorded_and_its_value_reaches_the_output(parts):
    model, source, target = parts
    weights: dict = {}
    with edited(model, [Edit("cross", 1, head=0, query=2, key=3, weight=1.0)], weights):
        changed = run(model, source, target)
    shown = weights["decoder.blocks.1.cross.weights"][0]
    assert_close(shown[2], torch.eye(6)[3].to(shown))
    assert_close(shown.sum(-1), torch.ones(5))
    before = run(model, source, target)
    assert_close(changed[:, :2], before[:, :2], atol=1e-5, rtol=0)  # earlier positions do not see it
    assert not torch.allclose(changed[:, 2], before[:, 2])


def test_positions_are_counted_over_single_steps_too(parts):
    model, source, target = parts
    edits = [
        Edit("decoder", 0, head=1, query=3, key=0, weight=0.8),
        Edit("cross", 0, head=0, query=1, key=2, weight=0.7),
    ]
    with edited(model, edits):
        at_once = run(model, source, target)
    with torch.inference_mode(), edited(model, edits):
        memory, state = model.encode(source, torch.ones_like(source, dtype=torch.bool)), model.start()
        steps = [model.decode(target[:, step : step + 1], memory, state) for step in range(target.size(1))]
    assert_close(torch.cat(steps, 1), at_once, atol=1e-5, rtol=0)


def test_what_is_not_there_is_refused_in_one_sentence(parts):
    model, source, target = parts
    for edit, sentence in (
        (
            Edit("cross", 7, head=0),
            "cross: this model has no cross attention in layer 7; choose another kind or layer.",
        ),
        (Edit("cross", 0, head=9), "head: 9 is out of range; decoder.blocks.0.cross has 4 heads."),
    ):
        with pytest.raises(ConfigError) as error, edited(model, [edit]):
            run(model, source, target)
        assert str(error.value) == sentence
    edit = Edit("decoder", 0, head=0, query=0, key=99, weight=0.5)
    with pytest.raises(ConfigError, match="key: 99 is after the last position"), edited(model, [edit]):
        run(model, source, target)
