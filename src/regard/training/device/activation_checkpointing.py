"""Activation checkpointing: blocks keep their inputs alone, and are computed once more in the backward pass."""

from typing import Any

from torch import nn
from torch.utils.checkpoint import checkpoint

from regard.errors import ConfigError
from regard.nn.blocks import DecoderBlock, EncoderBlock


def checkpoint_blocks(model: nn.Module) -> None:
    """Recompute the activations of every Transformer block, with the same dropout; in training mode alone."""
    blocks = [each for each in model.modules() if isinstance(each, EncoderBlock | DecoderBlock)]
    if not blocks:
        raise ConfigError(
            "train.activation_checkpointing: this model has no Transformer blocks to recompute; leave it out."
        )
    for block in blocks:
        _recompute(block)


def _recompute(block: nn.Module) -> None:
    plain = block.forward

    def forward(*arguments: Any) -> Any:
        if not block.training:
            return plain(*arguments)
        return checkpoint(plain, *arguments, use_reentrant=False)

    block.forward = forward
