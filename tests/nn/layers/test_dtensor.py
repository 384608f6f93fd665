"""Tensors that are whole pass unchanged; those in parts are tested where processes have them."""

import torch
from torch.nn import functional as F

from regard.nn.layers.dtensor import is_dtensor, is_whole_on_gpu, local, logits_of, whole


def test_a_whole_tensor_passes_unchanged():
    weight, bias, hidden = torch.randn(5, 3), torch.randn(5), torch.randn(2, 3)
    assert not is_dtensor(weight) and not is_whole_on_gpu(weight)
    assert local(weight) is weight and whole(weight) is weight
    assert logits_of(hidden, weight, bias).equal(F.linear(hidden, weight, bias))
