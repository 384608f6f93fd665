"""Token selection: the most probable token of each row, or a sample of it."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.decoding.logits.counter_uniforms import counter_uniforms, sample_tokens
from regard.decoding.logits.filters import warp_logits
from regard.decoding.settings import GenerationSettings

Ints = NDArray[np.int64]


class TokenSampler:
    """Selects the next token of every row; a sample depends on seed, line, sample and step alone."""

    def __init__(self, settings: GenerationSettings) -> None:
        self.settings = settings

    def __call__(self, log_p: Tensor, lines: Ints, samples: Ints, steps: Ints, seeds: Ints | None = None) -> Tensor:
        """Return a token a row (R,) for log probabilities (R, V)."""
        if self.settings.is_greedy:
            return log_p.argmax(1)
        chosen = self.settings.seed if seeds is None else seeds
        uniforms = torch.from_numpy(counter_uniforms(chosen, lines, samples, steps)).to(log_p.device)
        sampled = sample_tokens(warp_logits(log_p, self.settings), uniforms)
        return sampled.clamp_max(log_p.size(1) - 1)  # NaN samples an index past the end
