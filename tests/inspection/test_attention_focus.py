"""The focus of cross-attention, by its entropy."""

import numpy as np
import torch
from torch import nn

from regard.inspection.attention_focus import attention_focus
from small import random_pairs, small_transformer


def test_focus_is_0_for_uniform_attention_and_near_1_for_a_single_token():
    batch = random_pairs(20).batch(np.arange(10))
    model = small_transformer()
    focus = attention_focus(model, batch)
    assert focus is not None and 0.05 < focus < 1
    with torch.no_grad():
        for block in model.decoder.blocks:
            block.cross.query.weight.zero_()
            block.cross.query.bias.zero_()
    assert abs(attention_focus(model, batch)) < 1e-6
    with torch.no_grad():
        block.cross.query.bias.fill_(50.0)
    assert attention_focus(model, batch) > 0.8


def test_padding_does_not_change_focus():
    pairs = random_pairs(20)
    model = small_transformer()
    rows = np.array([3, 5, 9])
    alone = [attention_focus(model, pairs.batch(rows[[place]])) for place in range(3)]
    assert len(set(alone)) == 3
    short = rows[[int(np.argmin(pairs.source.lengths[rows]))]]
    long = rows[[int(np.argmax(pairs.source.lengths[rows]))]]
    batch = pairs.batch(np.concatenate([short, long]))
    batch.target_mask[1] = False  # only the short one counts, beside a long one
    assert abs(attention_focus(model, batch) - attention_focus(model, pairs.batch(short))) < 1e-5


def test_a_model_without_cross_attention_has_no_focus():
    assert attention_focus(nn.Linear(2, 2), random_pairs(4).batch(np.arange(2))) is None
