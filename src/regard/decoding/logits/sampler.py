"""Token selection for text generation: constraints, then greedy choice or sampling."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from regard.decoding.logits.counter_uniforms import counter_uniforms, sample_tokens
from regard.decoding.logits.filters import forbid_repeated_ngrams, keep_min_p, penalize_repetition, warp_logits
from regard.decoding.settings import GenerateSettings
from regard.decoding.steppers.interface import SpecialTokens
from regard.decoding.steppers.requests import RunningSequence
from regard.errors import CheckpointError


class TokenSampler:
    """Selects the next token of every row; stateless between steps."""

    def __init__(self, settings: GenerateSettings, ends: SpecialTokens, weight: Tensor) -> None:
        self.settings, self.ends, self.device = settings, ends, weight.device
        never = [token for token in ends.never if token != ends.eos_id and token < weight.size(0)]
        self.never = torch.tensor(never, dtype=torch.long, device=self.device)
        self.never_early = torch.tensor([*never, ends.eos_id], dtype=torch.long, device=self.device)

    def __call__(self, logits: Tensor, rows: Sequence[RunningSequence], step: int) -> list[tuple[int, float]]:
        """Return the next token of each row, and its log probability before constraints."""
        log_p = logits.log_softmax(-1)  # (R, V)
        tokens = self._select(self._allowed(log_p, rows, step), rows, step)
        values = log_p.gather(1, tokens[:, None])[:, 0]
        choices = torch.stack((tokens.double(), values.double())).tolist()  # the step's only device synchronization
        if any(map(math.isnan, choices[1])):
            raise CheckpointError("The model gives no probabilities: its weights are not numbers; use another one.")
        return [(int(token), value) for token, value in zip(*choices, strict=True)]

    def _allowed(self, log_p: Tensor, rows: Sequence[RunningSequence], step: int) -> Tensor:
        """Return the log probabilities (R, V) under all constraints."""
        settings, end = self.settings, self.ends.eos_id
        allowed = log_p.index_fill(
            1, self.never_early if step + 1 < settings.min_new_tokens else self.never, -torch.inf
        )
        if settings.repetition_penalty > 1:
            allowed = self._by_past(
                allowed, rows, lambda part, past: penalize_repetition(part, past, settings.repetition_penalty)
            )
        if settings.no_repeat_ngram_size:
            allowed = self._by_past(
                allowed, rows, lambda part, past: forbid_repeated_ngrams(part, past, settings.no_repeat_ngram_size)
            )
            # Where no other token is left, EOS is allowed, however early.
            is_stuck = allowed.amax(1) == -torch.inf
            allowed[:, end] = torch.where(is_stuck, log_p[:, end], allowed[:, end])
        return allowed

    def _by_past(
        self, log_p: Tensor, rows: Sequence[RunningSequence], constrain: Callable[[Tensor, Tensor], Tensor]
    ) -> Tensor:
        """Return the log probabilities constrained by prompt and generated tokens, rows of one length at a time."""
        pasts = [[token for token in row.ids if token != self.ends.eos_id] for row in rows]
        lengths = np.array([len(past) for past in pasts])
        constrained = log_p.clone()
        for length in np.unique(lengths[lengths > 0]):
            numbers = np.flatnonzero(lengths == length)
            past = torch.tensor([pasts[number] for number in numbers], device=self.device)
            at = torch.from_numpy(numbers).to(self.device)
            constrained[at] = constrain(log_p[at], past)
        return constrained

    def _select(self, allowed: Tensor, rows: Sequence[RunningSequence], step: int) -> Tensor:
        """Return the chosen token of each row (R,)."""
        settings = self.settings
        if settings.temperature == 0:
            return allowed.argmax(1)
        allowed = warp_logits(allowed, settings)
        if settings.min_p is not None:
            allowed = keep_min_p(allowed, settings.min_p)
        lines = np.array([row.prompt.line for row in rows], np.int64)
        samples = np.array([row.sample for row in rows], np.int64)
        uniforms = torch.from_numpy(counter_uniforms(settings.seed, lines, samples, step)).to(self.device)
        return sample_tokens(allowed, uniforms).clamp_max(allowed.size(1) - 1)  # NaN samples an index past the end
