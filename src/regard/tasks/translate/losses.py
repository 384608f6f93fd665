"""The loss of a translator on pairs, outside training."""

import math

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.encoding.batches import EncodedPairs
from regard.data.feeds.mask_predict import MaskedPairs
from regard.data.feeds.sampler import Rows, micro_batches
from regard.models.base.protocols import ConditionalMaskedLM, Seq2Seq, is_conditional_masked
from regard.nn.inference.memory import retry_smaller
from regard.objectives.loss import Objective
from regard.objectives.mask_predict import MaskedTranslationObjective
from regard.objectives.translation import TranslationObjective
from regard.training.parallel.division import map_arrays


@torch.inference_mode()
def mean_nll(
    model: Seq2Seq | ConditionalMaskedLM, pairs: EncodedPairs, device: torch.device, limit: int
) -> dict[str, float]:
    """Return the mean negative log probability of a target token as `loss`, and its exponential as `perplexity`.

    For a conditional masked model they are those of the masked tokens, with constant masks, and `length_loss` is the
    loss of the length prediction. Batches shrink where memory runs out.
    """
    if not len(pairs):
        return {"loss": math.nan, "perplexity": math.nan}  # nothing fits the model
    longest = int(pairs.source.lengths.max() + pairs.target.lengths.max())
    return retry_smaller(lambda limit: _mean_nll(model, pairs, device, limit), limit, longest, device)


def _mean_nll(
    model: Seq2Seq | ConditionalMaskedLM, pairs: EncodedPairs, device: torch.device, limit: int
) -> dict[str, float]:
    objective: Objective = TranslationObjective(label_smoothing=0.0)
    examples: EncodedPairs | MaskedPairs = pairs
    if is_conditional_masked(model):
        objective, examples = MaskedTranslationObjective(label_smoothing=0.0), fixed_masks(pairs)
    names = objective.parts
    totals, counts = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)

    def of_batch(rows: Rows) -> NDArray[np.float64]:
        loss = objective(model, examples.batch(rows).to(device))
        return np.array([number for name in names for number in (float(loss[name].sum), loss[name].count)])

    batches = micro_batches(np.arange(len(pairs)), pairs.source.lengths, pairs.target.lengths, limit)
    for numbers in map_arrays(batches, of_batch):
        for name, (total, count) in zip(names, numbers.reshape(-1, 2).tolist(), strict=True):
            totals[name], counts[name] = totals[name] + total, counts[name] + count
    means = {name: totals[name] / counts[name] if counts[name] else math.nan for name in names}
    losses = {"loss": means["nll"], "perplexity": math.exp(min(means["nll"], 700.0))}
    return losses | ({"length_loss": means["length"]} if "length" in means else {})


def fixed_masks(pairs: EncodedPairs) -> MaskedPairs:
    """Return pairs with masks that are the same at every validation."""
    return MaskedPairs(pairs, seed=0, epoch=0)
