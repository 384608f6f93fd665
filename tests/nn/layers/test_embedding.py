import torch
from torch import nn

from regard.nn.blocks import BlockSettings, Residual
from regard.nn.layers.embedding import TokenEmbedding
from regard.nn.layers.positions import Positions


def test_sums_are_narrow_only_under_autocast_and_only_if_asked_for():
    layer = TokenEmbedding(nn.Embedding(5, 4), Positions(), False, 0.0)
    tokens, places = torch.tensor([[1, 2]]), torch.arange(2)
    for is_half_precision in (False, True):
        layer.is_half_precision = is_half_precision
        assert layer(tokens, places).dtype == torch.float32
        with torch.autocast("cpu", torch.bfloat16):
            assert layer(tokens, places).dtype == (torch.bfloat16 if is_half_precision else torch.float32)


def test_sums_behind_a_norm_are_narrow_only_if_asked_for():
    layer = Residual(BlockSettings(width=4, heads=1, norm_order="post"))
    x = torch.randn(1, 3, 4)
    for is_half_precision in (False, True):
        layer.is_half_precision = is_half_precision
        assert layer(x, lambda y: y).dtype == torch.float32
        with torch.autocast("cpu", torch.bfloat16):
            assert layer(x, lambda y: y).dtype == (torch.bfloat16 if is_half_precision else torch.float32)
