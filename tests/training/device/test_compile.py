"""Which methods are compiled, and in which mode they are used; the compiler itself is replaced."""

import pytest
import torch
from torch import nn

from regard.training.device.compile import RECOMPILATIONS, compile_blocks


class Model(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
        self.cells = nn.ModuleList([nn.GRU(2, 2)])
        self.norm = norm

    def finish(self, hidden):
        return self.norm(hidden)


@pytest.fixture
def compiled(monkeypatch):
    """The functions that were compiled, and the arguments that went through them."""
    functions, calls = [], []

    def compile(function):
        functions.append(function)
        return lambda *arguments, **named: calls.append(arguments) or function(*arguments, **named)

    monkeypatch.setattr(torch, "compile", compile)
    with torch._dynamo.config.patch(recompile_limit=8):
        yield functions, calls


@pytest.mark.parametrize("norm, count", [(nn.LayerNorm(2), 3), (nn.Identity(), 2)])
def test_blocks_and_the_final_norm_are_compiled_but_not_cudnn_layers(compiled, norm, count):
    functions, _ = compiled
    compile_blocks(Model(norm))
    assert len(functions) == count and torch._dynamo.config.recompile_limit == RECOMPILATIONS


def test_compiled_blocks_run_in_training_only(compiled):
    _, calls = compiled
    model, inputs = Model(nn.LayerNorm(2)), torch.randn(3, 2)
    expected = model.blocks[0](inputs)
    compile_blocks(model)
    assert torch.equal(model.eval().blocks[0](inputs), expected) and not calls
    assert torch.equal(model.train().blocks[0](inputs), expected) and len(calls) == 1
