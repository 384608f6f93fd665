"""Blocks compiled for training: a minute of waiting, then fewer and larger kernels."""

from typing import Any

import torch
from torch import nn

RECOMPILATIONS = 64
"""Shapes and kinds of blocks that may be compiled anew; torch's own limit falls back to slow blocks in silence."""


def compile_blocks(model: nn.Module) -> None:
    """Compile the members of a model's stacks of layers, and what comes behind them, for training alone.

    Decoding goes step by step through a growing past, for which nothing is gained; and a listener on a probe is
    never lost in a compiled block, since listeners come when training is over.
    """
    torch._dynamo.config.recompile_limit = max(RECOMPILATIONS, torch._dynamo.config.recompile_limit)
    for stack in model.modules():
        if isinstance(stack, nn.ModuleList):
            for block in stack:
                has_own_kernels = any(isinstance(part, nn.RNNBase) for part in block.modules())
                if not has_own_kernels:
                    _compile(block, "forward")
    if hasattr(model, "finish") and not isinstance(getattr(model, "norm", None), nn.Identity):
        _compile(model, "finish")


def _compile(module: nn.Module, name: str) -> None:
    plain = getattr(module, name)
    compiled = torch.compile(plain)

    def method(*arguments: Any, **named: Any) -> Any:
        return (compiled if module.training else plain)(*arguments, **named)

    setattr(module, name, method)
