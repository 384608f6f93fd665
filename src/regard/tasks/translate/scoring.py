"""Log probabilities of target tokens, computed in batches of similar length."""

from collections.abc import Sequence

import numpy as np
import torch

from regard.data.encoding.batches import EncodedPairs
from regard.data.feeds.sampler import micro_batches
from regard.decoding.scoring import target_log_probabilities
from regard.models.base.protocols import Seq2Seq
from regard.progress import SILENT, Progress


def pair_log_probabilities(
    models: Sequence[Seq2Seq],
    pairs: EncodedPairs,
    device: torch.device,
    limit: int,
    progress: Progress = SILENT,
) -> list[tuple[float, ...]]:
    """Return the log probabilities of each pair's target tokens; a batch has about `limit` padded tokens."""
    lengths = pairs.target.lengths
    values: list[tuple[float, ...]] = [()] * len(pairs)
    with progress.bar("score", len(pairs)) as bar:
        for rows in micro_batches(np.arange(len(pairs)), pairs.source.lengths, lengths, limit):
            log_p = target_log_probabilities(models, pairs.batch(rows).to(device)).tolist()
            for row, end in zip(rows, np.cumsum(lengths[rows]), strict=True):
                values[row] = tuple(log_p[end - lengths[row] : end])
            bar.advance(len(rows))
    return values
