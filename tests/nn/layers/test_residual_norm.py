import torch
from torch import nn

from regard.nn.layers.residual_norm import norm_backward, residual_and_norm


def test_without_a_gpu_a_norm_is_the_module_itself():
    for norm in (nn.LayerNorm(8), nn.RMSNorm(8), nn.LayerNorm(8).eval()):
        x = torch.randn(2, 8)
        beside, normed = residual_and_norm(norm, x)
        assert beside is x and torch.equal(normed, norm(x))


def test_a_compiler_is_given_the_shapes_of_the_gradients():
    x, weight = torch.empty(3, 5, 8, device="meta"), torch.empty(8, device="meta")
    statistics = torch.empty(3, 5, 1, device="meta")
    of_x, both = norm_backward(x, x, x, statistics, statistics, weight)
    assert of_x.shape == (3, 5, 8) and both.shape == (2, 8)
