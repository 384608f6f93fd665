"""Gradient norm of one target token's loss at the embedding of a token k tokens before it, in source and target.

In a plain recurrent network the gradient vanishes with the distance (Bengio et al., 1994); attention connects any two
positions in one step, a convolution those inside its receptive field.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.data.encoding.batches import EncodedPairs
from regard.models.base.protocols import is_conditional_masked

PAIRS = 24
POSITIONS = 4
"""Target tokens of each sentence whose loss is differentiated, all in its second half."""
LONGEST = 64
WIDTHS = {"source": 3, "target": 1}
"""Distances per point of the curve."""
FEWEST = 8
"""Minimum number of gradients of a point."""

Curve = dict[str, list[float]]


def gradient_reach(model: Any, pairs: EncodedPairs, device: torch.device) -> dict[str, Curve | None]:
    """Return, for each side, distances and the mean gradient norm there, relative to the mean norm of the sentence.

    The distance of a source token counts the rest of the source and the target prefix. The norm itself depends on the
    scale of the embeddings; relative to the mean of the sentence it does not. None for a side without an
    `nn.Embedding`, and for models that do not decode from left to right.
    """
    if is_conditional_masked(model):
        return dict.fromkeys(WIDTHS)
    ratios: dict[str, dict[int, list[float]]] = {side: defaultdict(list) for side in WIDTHS}
    was_training = model.training
    model.eval()
    try:
        with torch.backends.cudnn.flags(enabled=False):  # its recurrent layers have no backward in eval mode
            for row in _longer_half(pairs):
                for side, nearest, values in _reach(model, pairs, int(row), device):
                    for distance, ratio in enumerate(values, start=nearest):
                        ratios[side][distance // WIDTHS[side]].append(ratio)
    finally:
        model.train(was_training)
    return {side: curve(groups, WIDTHS[side], min(FEWEST, len(pairs))) for side, groups in ratios.items()}


def curve(groups: dict[int, list[float]], width: int, fewest: int) -> Curve | None:
    """Return the centers of groups of `width` distances and the mean of each; None where all groups are too small."""
    kept = [group for group in sorted(groups) if len(groups[group]) >= fewest]
    if not kept:
        return None
    centers = [group * width + (width - 1) / 2 for group in kept]
    return {"distance": centers, "gradient": [float(np.mean(groups[group])) for group in kept]}


def _longer_half(pairs: EncodedPairs) -> Sequence[int]:
    """Return rows of the longer half of the pairs, evenly spaced, always the same."""
    sizes = np.maximum(pairs.source.lengths, pairs.target.lengths)
    rows = np.argsort(pairs.source.lengths, kind="stable")
    rows = rows[sizes[rows] <= LONGEST]
    rows = rows[len(rows) // 2 :]
    return rows[np.unique(np.linspace(0, len(rows) - 1, PAIRS).astype(int))].tolist() if len(rows) else []


def _reach(model: Any, pairs: EncodedPairs, row: int, device: torch.device) -> Iterator[tuple[str, int, list[float]]]:
    """Yield, for some target tokens, a side, the distance of its nearest token, and norm / mean from that one on."""
    batch = pairs.batch(np.array([row])).to(device)
    with torch.enable_grad():
        with embedded(model, batch.source) as sources:
            memory = model.encode(batch.source, batch.source_mask)
        with embedded(model, batch.target) as targets:
            hidden = model.decode(batch.target, memory)
        leaves = sources + targets
        if not leaves:
            return
        logits = model.project(hidden[0]).float()  # (T, V)
        losses = torch.nn.functional.cross_entropy(logits, batch.labels, reduction="none")  # (T,)
        last = len(losses) - 1
        for position in np.unique(np.linspace(last / 2, last, POSITIONS).astype(int)).tolist():
            gradients = torch.autograd.grad(losses[position], leaves, retain_graph=True, allow_unused=True)
            by_side = {"source": gradients[: len(sources)], "target": gradients[len(sources) :]}
            for side, nearest, length in (("source", position + 2, None), ("target", 1, position + 1)):
                total = sum(gradient for gradient in by_side[side] if gradient is not None)
                if not isinstance(total, Tensor):
                    continue
                norms = total[0, :length].float().norm(dim=-1)  # later positions have no gradient
                mean = float(norms.mean())
                if mean > 0 and np.isfinite(mean):
                    yield side, nearest, (norms.flip(0) / mean).tolist()


@contextmanager
def embedded(model: nn.Module, tokens: Tensor) -> Iterator[list[Tensor]]:
    """Collect the embeddings (B, S, D) of tokens (B, S) as leaves, detached from the embedding matrix."""
    leaves: list[Tensor] = []

    def detach(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor | None:
        if not inputs or not isinstance(inputs[0], Tensor) or not torch.equal(inputs[0], tokens):
            return None  # position embeddings, or the other side
        leaf = output.detach().requires_grad_()
        leaves.append(leaf)
        return leaf

    handles = [module.register_forward_hook(detach) for module in model.modules() if isinstance(module, nn.Embedding)]
    try:
        yield leaves
    finally:
        for handle in handles:
            handle.remove()
