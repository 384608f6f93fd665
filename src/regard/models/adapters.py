"""Adapters: low-rank updates of a frozen body (LoRA), and gradual unfreezing of its layers."""

import torch
from torch import nn

from regard.nn.layers.low_rank import add_update


def add_lora(body: nn.Module, rank: int, alpha: float, targets: str, seed: int) -> int:
    """Freeze a body, and give the linear layers of its blocks low-rank updates; return how many have one.

    The updates are initialized from the seed alone.
    """
    body.requires_grad_(False)
    chosen = [
        layer
        for block in _blocks(body)
        for name, layer in block.named_modules()
        if isinstance(layer, nn.Linear) and (targets == "all-linear" or "attention" in name)
    ]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for layer in chosen:
            add_update(layer, rank, alpha)
    return len(chosen)


def layer_groups(body: nn.Module) -> list[list[nn.Parameter]]:
    """Return the trained parameters of a body in groups to be unfrozen in order.

    The top block comes first, with all that is above it; then each block below; then embeddings.
    """
    blocks = _blocks(body)[::-1]
    of_blocks = [list(block.parameters()) for block in blocks]
    known = {id(each) for group in of_blocks for each in group}
    embedded = [each for each in _embedding(body).parameters() if id(each) not in known]
    known |= {id(each) for each in embedded}
    others = [each for each in body.parameters() if id(each) not in known]
    groups = [others + of_blocks[0], *of_blocks[1:], embedded] if of_blocks else [others + embedded]
    trained = [[each for each in group if each.requires_grad] for group in groups]
    return [group for group in trained if group]


def _blocks(body: nn.Module) -> list[nn.Module]:
    """Return the blocks of a body from the bottom to the top; empty if it has none."""
    blocks = getattr(body, "blocks", None)
    return list(blocks) if isinstance(blocks, nn.ModuleList) else []


def _embedding(body: nn.Module) -> nn.Module:
    embedding = getattr(body, "embedding", None)
    return embedding if isinstance(embedding, nn.Module) else nn.Module()
