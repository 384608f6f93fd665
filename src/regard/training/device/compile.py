"""Compilation of blocks for training: a minute of start-up, then fewer and larger kernels."""

from typing import Any

import torch
from torch import nn

RECOMPILATIONS = 64
"""Limit on compiled variants (shapes and blocks); beyond torch's own lower limit blocks silently run uncompiled."""


def compile_blocks(model: nn.Module) -> None:
    """Compile the members of a model's module lists, and its final norm, for training mode alone.

    In evaluation mode blocks stay uncompiled: decoding steps have ever new shapes, and listeners of probes would be
    lost in a compiled block.
    """
    torch._dynamo.config.recompile_limit = max(RECOMPILATIONS, torch._dynamo.config.recompile_limit)
    for stack in model.modules():
        if isinstance(stack, nn.ModuleList):
            for block in stack:
                has_cudnn_kernels = any(isinstance(part, nn.RNNBase) for part in block.modules())
                if not has_cudnn_kernels:
                    _compile(block, "forward")
    if hasattr(model, "finish") and not isinstance(getattr(model, "norm", None), nn.Identity):
        _compile(model, "finish")


def _compile(module: nn.Module, name: str) -> None:
    plain = getattr(module, name)
    compiled = torch.compile(plain)

    def method(*arguments: Any, **named: Any) -> Any:
        return (compiled if module.training else plain)(*arguments, **named)

    setattr(module, name, method)
