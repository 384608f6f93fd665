import torch
from torch import nn

from regard.nn import Positions, TokenEmbedding


def test_sums_are_narrow_only_under_autocast_and_only_if_asked_for():
    layer = TokenEmbedding(nn.Embedding(5, 4), Positions(), False, 0.0)
    tokens, places = torch.tensor([[1, 2]]), torch.arange(2)
    for is_narrow in (False, True):
        layer.is_narrow = is_narrow
        assert layer(tokens, places).dtype == torch.float32
        with torch.autocast("cpu", torch.bfloat16):
            assert layer(tokens, places).dtype == (torch.bfloat16 if is_narrow else torch.float32)
