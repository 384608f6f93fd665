"""How much of the gradient of one target word's loss reaches a word k words back, in the source and in the target.

In a plain recurrent network the contribution of early steps fades (Bengio et al., 1994); attention leads back in one
step, and a convolution as far as its window.
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
"""Target words of each sentence whose loss is followed back, in its second half: before those lies enough."""
LONGEST = 64
WIDTHS = {"source": 3, "target": 1}
"""Distances that make one point."""
FEWEST = 8
"""Gradients without which a point is left out."""

Curve = dict[str, list[float]]


def gradient_reach(model: Any, pairs: EncodedPairs, device: torch.device) -> dict[str, Curve | None]:
    """Return, for each side, distances and the mean gradient norm there, over that of an average word of a sentence.

    A source word's distance is counted through the rest of the source and the target so far. The norm itself depends
    on how a model scales its embeddings; over the sentence's own mean it does not. None where the words of a side
    are looked up in no `nn.Embedding`, and where words have no order in which they are said.
    """
    if is_conditional_masked(model):
        return dict.fromkeys(WIDTHS)
    found: dict[str, dict[int, list[float]]] = {side: defaultdict(list) for side in WIDTHS}
    was_training = model.training
    model.eval()
    try:
        with torch.backends.cudnn.flags(enabled=False):  # its recurrent layers have no backward in eval mode
            for row in _long_ones(pairs):
                for side, nearest, shares in _reach(model, pairs, int(row), device):
                    for distance, share in enumerate(shares, start=nearest):
                        found[side][distance // WIDTHS[side]].append(share)
    finally:
        model.train(was_training)
    return {side: curve(groups, WIDTHS[side], min(FEWEST, len(pairs))) for side, groups in found.items()}


def curve(groups: dict[int, list[float]], width: int, fewest: int) -> Curve | None:
    """Return the centers of groups of so many distances and the mean gradient of each; None where all are small."""
    kept = [group for group in sorted(groups) if len(groups[group]) >= fewest]
    if not kept:
        return None
    centers = [group * width + (width - 1) / 2 for group in kept]
    return {"distance": centers, "gradient": [float(np.mean(groups[group])) for group in kept]}


def _long_ones(pairs: EncodedPairs) -> Sequence[int]:
    """Return some pairs of the longer half, spread over it, always the same."""
    sizes = np.maximum(pairs.source.lengths, pairs.target.lengths)
    rows = np.argsort(pairs.source.lengths, kind="stable")
    rows = rows[sizes[rows] <= LONGEST]
    rows = rows[len(rows) // 2 :]
    return rows[np.unique(np.linspace(0, len(rows) - 1, PAIRS).astype(int))].tolist() if len(rows) else []


def _reach(model: Any, pairs: EncodedPairs, row: int, device: torch.device) -> Iterator[tuple[str, int, list[float]]]:
    """Yield, for some target words, a side, the distance of its nearest word, and the shares of all, it first."""
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
        for place in np.unique(np.linspace(last / 2, last, POSITIONS).astype(int)).tolist():
            gradients = torch.autograd.grad(losses[place], leaves, retain_graph=True, allow_unused=True)
            heard = {"source": gradients[: len(sources)], "target": gradients[len(sources) :]}
            for side, nearest, words in (("source", place + 2, None), ("target", 1, place + 1)):
                total = sum(gradient for gradient in heard[side] if gradient is not None)
                if not isinstance(total, Tensor):
                    continue
                norms = total[0, :words].float().norm(dim=-1)  # what comes after the word has no part in it
                mean = float(norms.mean())
                if mean > 0 and np.isfinite(mean):
                    yield side, nearest, (norms.flip(0) / mean).tolist()


@contextmanager
def embedded(model: nn.Module, tokens: Tensor) -> Iterator[list[Tensor]]:
    """Collect the vectors (B, S, D) that tokens (B, S) are looked up as, cut off from their table: leaves."""
    leaves: list[Tensor] = []

    def cut(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor | None:
        if not inputs or not isinstance(inputs[0], Tensor) or not torch.equal(inputs[0], tokens):
            return None  # positions, or another side
        leaf = output.detach().requires_grad_()
        leaves.append(leaf)
        return leaf

    handles = [module.register_forward_hook(cut) for module in model.modules() if isinstance(module, nn.Embedding)]
    try:
        yield leaves
    finally:
        for handle in handles:
            handle.remove()
