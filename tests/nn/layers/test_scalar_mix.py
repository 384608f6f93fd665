import torch
from torch.testing import assert_close

from regard.nn.layers.scalar_mix import ScalarMix


def test_the_mix_begins_with_the_mean_and_its_weights_get_gradients():
    torch.manual_seed(0)
    layers = [torch.randn(2, 3, 4) for _ in range(3)]
    mix = ScalarMix(3)
    assert_close(mix(layers), torch.stack(layers).mean(0))
    mix(layers).square().sum().backward()
    assert (mix.weights.grad != 0).all() and mix.scale.grad != 0
    assert_close(mix.weights.grad.sum(), torch.zeros(()), atol=1e-4, rtol=0)  # shares add up to 1


def test_weights_select_a_layer_and_the_scale_multiplies_it():
    layers = [torch.randn(2, 3) for _ in range(3)]
    mix = ScalarMix(3)
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([-50.0, 50.0, -50.0]))
        mix.scale.fill_(2.0)
    assert_close(mix(layers), 2 * layers[1])
