"""The loss of a model on pairs, outside training."""

import math

import numpy as np
import torch

from regard.data.batches import EncodedPairs
from regard.data.sampler import micro_batches
from regard.models import SequenceToSequence
from regard.nn import with_less_at_once
from regard.objectives import TranslationObjective


@torch.inference_mode()
def mean_surprise(
    model: SequenceToSequence, pairs: EncodedPairs, device: torch.device, limit: int
) -> dict[str, float]:
    """Return the mean negative log probability of a target token as `loss`, and its exponential as `perplexity`.

    Where memory runs out, fewer pairs are looked at together.
    """
    if not len(pairs):
        return {"loss": math.nan, "perplexity": math.nan}  # nothing fits the model
    longest = int(pairs.source.lengths.max() + pairs.target.lengths.max())
    return with_less_at_once(lambda limit: _mean_surprise(model, pairs, device, limit), limit, longest, device)


def _mean_surprise(
    model: SequenceToSequence, pairs: EncodedPairs, device: torch.device, limit: int
) -> dict[str, float]:
    objective = TranslationObjective(label_smoothing=0.0)
    total, count = 0.0, 0
    for rows in micro_batches(np.arange(len(pairs)), pairs.source.lengths, pairs.target.lengths, limit):
        part = objective(model, pairs.batch(rows).to(device))["surprise"]
        total, count = total + float(part.sum), count + part.count
    return {"loss": total / count, "perplexity": math.exp(min(total / count, 700.0))}
