import math

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from regard.nn.layers.convolution import GatedConvolution


@pytest.mark.parametrize("kernel", [1, 3])
def test_it_equals_a_convolution_with_a_gate(kernel):
    torch.manual_seed(0)
    layer, x = GatedConvolution(6, kernel, 0.1), torch.randn(2, 9, 6)
    weight = layer.windows.weight.view(12, kernel, 6).transpose(1, 2)  # (2 D, D, kernel)
    value, gate = F.conv1d(x.transpose(1, 2), weight, layer.windows.bias).transpose(1, 2).chunk(2, -1)
    assert_close(layer(x), value * gate.sigmoid(), atol=1e-6, rtol=1e-5)


def test_a_window_alone_gives_what_it_gives_among_others():
    torch.manual_seed(0)
    layer, x = GatedConvolution(4, 3, 0.0), torch.randn(1, 7, 4)
    together = layer(x)
    alone = torch.cat([layer(x[:, start : start + 3]) for start in range(5)], 1)
    assert together.shape == (1, 5, 4)
    assert_close(together, alone, atol=1e-6, rtol=1e-5)


def test_the_initialization_follows_the_paper():
    torch.manual_seed(0)
    layer = GatedConvolution(64, 3, 0.2)
    assert layer.windows.weight.std().item() == pytest.approx(math.sqrt(4 * 0.8 / (3 * 64)), rel=0.03)
    assert (layer.windows.bias == 0).all()
