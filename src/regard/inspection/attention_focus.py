"""Attention focus: how concentrated a decoder's cross-attention is, by its entropy."""

import fnmatch
from typing import Any

import torch
from torch import Tensor

from regard.data.encoding.batches import TranslationBatch
from regard.inspection.record import exclusive
from regard.models.base.protocols import is_conditional_masked
from regard.nn.probes.probe import Listener, listening, probes

CROSS = "*.cross.weights"


@torch.inference_mode()
def attention_focus(model: Any, batch: TranslationBatch) -> float | None:
    """Return the focus of the most focused cross-attention head, between 0 and 1; None without such heads.

    Focus is 1 - entropy / log(source length), averaged over target tokens: 0 is uniform attention, 1 attention to a
    single source token.
    """
    focuses: list[float] = []
    lengths = batch.source_mask.sum(-1)  # (B,)
    counts = batch.target_mask & (lengths > 1)[:, None]  # (B, T): one source token has no entropy

    def listener(weights: Tensor) -> None:
        entropy = torch.special.entr(weights.float()).sum(-1)  # (B, H, T)
        relative = entropy / lengths.clamp(min=2).log()[:, None, None]
        kept = relative.transpose(1, 2)[counts]  # (N, H)
        focuses.append(float((1 - kept).mean(0).max()))

    heads: dict[Any, Listener] = {
        probe: listener for name, probe in probes(model).items() if fnmatch.fnmatch(name, CROSS)
    }
    if not heads or not counts.any():
        return None
    with exclusive(model), listening(heads):
        memory = model.encode(batch.source, batch.source_mask)
        if is_conditional_masked(model):
            model.decode(batch.target, memory, batch.target_mask)
        else:
            model.decode(batch.target, memory)
    return max(focuses)
