"""How much of the gradient of one target word's loss reaches a source word k words back.

Counted along the way a recurrent model goes: through the rest of the source, and the target so far. In a plain
recurrent network the contribution of early steps fades (Bengio et al., 1994); attention leads back in one step.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.data.batches import EncodedPairs

PAIRS = 24
POSITIONS = 4
"""Target words of each sentence whose loss is followed back, in its second half: before those lies enough."""
LONGEST = 64
WIDTH = 3
"""Distances that make one point."""
FEWEST = 8
"""Gradients without which a point is left out."""


def gradient_reach(model: Any, pairs: EncodedPairs, device: torch.device) -> dict[str, list[float]] | None:
    """Return distances and the mean gradient norm there, over that of an average word of the same source.

    The norm itself depends on how a model scales its embeddings; over the sentence's own mean it does not. None where
    the model looks its source words up in no `nn.Embedding`.
    """
    found: dict[int, list[float]] = defaultdict(list)
    was_training = model.training
    model.eval()
    try:
        with torch.backends.cudnn.flags(enabled=False):  # its recurrent layers have no backward in eval mode
            for row in _long_ones(pairs):
                for steps_back, shares in _reach(model, pairs, int(row), device):
                    for distance, share in enumerate(shares, start=steps_back):
                        found[distance // WIDTH].append(share)
    finally:
        model.train(was_training)
    kept = [group for group in sorted(found) if len(found[group]) >= min(FEWEST, len(pairs))]
    if not kept:
        return None
    centres = [group * WIDTH + (WIDTH - 1) / 2 for group in kept]
    return {"distance": centres, "gradient": [float(np.mean(found[group])) for group in kept]}


def _long_ones(pairs: EncodedPairs) -> Sequence[int]:
    """Return some pairs of the longer half, spread over it, always the same."""
    sizes = np.maximum(pairs.source.lengths, pairs.target.lengths)
    rows = np.argsort(pairs.source.lengths, kind="stable")
    rows = rows[sizes[rows] <= LONGEST]
    rows = rows[len(rows) // 2 :]
    return rows[np.unique(np.linspace(0, len(rows) - 1, PAIRS).astype(int))].tolist() if len(rows) else []


def _reach(model: Any, pairs: EncodedPairs, row: int, device: torch.device) -> Iterator[tuple[int, list[float]]]:
    """Yield, for some target words, the distance of the last source word and the shares of all, last one first."""
    batch = pairs.batch(np.array([row])).to(device)
    with torch.enable_grad():
        with embedded(model, batch.source) as leaves:
            memory = model.encode(batch.source, batch.source_real)
        if not leaves:
            return
        logits = model.project(model.decode(batch.target, memory)[0]).float()  # (T, V)
        losses = torch.nn.functional.cross_entropy(logits, batch.labels, reduction="none")  # (T,)
        last = len(losses) - 1
        for place in np.unique(np.linspace(last / 2, last, POSITIONS).astype(int)).tolist():
            gradients = torch.autograd.grad(losses[place], leaves, retain_graph=True, allow_unused=True)
            total = sum(gradient for gradient in gradients if gradient is not None)
            if not isinstance(total, Tensor):
                return
            norms = total[0].float().norm(dim=-1)  # (S,)
            mean = float(norms.mean())
            if mean > 0 and np.isfinite(mean):
                yield place + 1, (norms.flip(0) / mean).tolist()


@contextmanager
def embedded(model: nn.Module, source: Tensor) -> Iterator[list[Tensor]]:
    """Collect the vectors (B, S, D) that source tokens are looked up as, cut off from their table: leaves."""
    leaves: list[Tensor] = []

    def cut(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor | None:
        if not inputs or not isinstance(inputs[0], Tensor) or not torch.equal(inputs[0], source):
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
