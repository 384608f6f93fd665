"""Bias + GELU as a custom operator; its values and gradients are compared in `tests/nn/kernels`."""

import torch

from regard.nn.layers.bias_gelu import gelu_of_sum, gelu_of_sum_backward


def test_a_compiler_is_given_the_shapes_of_outputs_and_gradients():
    x, bias = torch.empty(5, 3, 2, device="meta").transpose(0, 2), torch.empty(5, device="meta")
    assert not x.is_contiguous()
    output = gelu_of_sum(x, bias, False)
    assert output.shape == (2, 3, 5) and output.is_contiguous()  # kernels write dense rows
    of_x, of_bias = gelu_of_sum_backward(output, x, bias, True)
    assert of_x.shape == (2, 3, 5) and of_x.is_contiguous() and of_bias.shape == (5,)


def test_both_inputs_get_gradients_of_their_shapes():
    x, bias = (torch.empty(*shape, device="meta", requires_grad=True) for shape in ((2, 3, 5), (5,)))
    gelu_of_sum(x, bias, True).sum().backward()
    assert x.grad.shape == x.shape and bias.grad.shape == bias.shape
