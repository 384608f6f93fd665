"""The next token of each text that is continued: what may be said, and which of it is."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from regard.decoding.logits.counter_uniforms import counter_uniforms, draw
from regard.decoding.logits.filters import forbid_repeated_ngrams, keep_min_p, penalise_repetition
from regard.decoding.search.rollout import warp_logits
from regard.decoding.steppers.interface import SpecialTokens
from regard.decoding.steppers.requests import RunningSequence
from regard.decoding.text_settings import GenerateSettings
from regard.errors import CheckpointError


class TokenSampler:
    """The choice among next tokens; nothing is remembered from step to step."""

    def __init__(self, settings: GenerateSettings, ends: SpecialTokens, weight: Tensor) -> None:
        self.settings, self.ends, self.device = settings, ends, weight.device
        never = [token for token in ends.never if token != ends.eos_id and token < weight.size(0)]
        self.never = torch.tensor(never, dtype=torch.long, device=self.device)
        self.never_yet = torch.tensor([*never, ends.eos_id], dtype=torch.long, device=self.device)

    def __call__(self, logits: Tensor, rows: Sequence[RunningSequence], step: int) -> list[tuple[int, float]]:
        """Return the token that follows each row, and its log probability as the model has it."""
        log_p = logits.log_softmax(-1)  # (R, V)
        tokens = self._pick(self._allowed(log_p, rows, step), rows, step)
        values = log_p.gather(1, tokens[:, None])[:, 0]
        found = torch.stack((tokens.double(), values.double())).tolist()  # the one wait for the device
        if any(map(math.isnan, found[1])):
            raise CheckpointError("The model gives no probabilities: its weights are not numbers; use another one.")
        return [(int(token), value) for token, value in zip(*found, strict=True)]

    def _allowed(self, log_p: Tensor, rows: Sequence[RunningSequence], step: int) -> Tensor:
        """Return the log probabilities (R, V) under all constraints."""
        settings, end = self.settings, self.ends.eos_id
        allowed = log_p.index_fill(
            1, self.never_yet if step + 1 < settings.min_new_tokens else self.never, -torch.inf
        )
        if settings.repetition_penalty > 1:
            allowed = self._by_past(
                allowed, rows, lambda part, past: penalise_repetition(part, past, settings.repetition_penalty)
            )
        if settings.no_repeat_ngram_size:
            allowed = self._by_past(
                allowed, rows, lambda part, past: forbid_repeated_ngrams(part, past, settings.no_repeat_ngram_size)
            )
            # Where nothing else is left to say, the end may come, however early.
            is_stuck = allowed.amax(1) == -torch.inf
            allowed[:, end] = torch.where(is_stuck, log_p[:, end], allowed[:, end])
        return allowed

    def _by_past(
        self, log_p: Tensor, rows: Sequence[RunningSequence], constrain: Callable[[Tensor, Tensor], Tensor]
    ) -> Tensor:
        """Return the log probabilities constrained by what was read and said, rows of one length at a time."""
        pasts = [[token for token in row.ids if token != self.ends.eos_id] for row in rows]
        lengths = np.array([len(past) for past in pasts])
        found = log_p.clone()
        for length in np.unique(lengths[lengths > 0]):
            places = np.flatnonzero(lengths == length)
            past = torch.tensor([pasts[place] for place in places], device=self.device)
            at = torch.from_numpy(places).to(self.device)
            found[at] = constrain(log_p[at], past)
        return found

    def _pick(self, allowed: Tensor, rows: Sequence[RunningSequence], step: int) -> Tensor:
        """Return one token a row (R,)."""
        settings = self.settings
        if settings.temperature == 0:
            return allowed.argmax(1)
        allowed = warp_logits(allowed, settings)
        if settings.min_p is not None:
            allowed = keep_min_p(allowed, settings.min_p)
        lines = np.array([row.prompt.line for row in rows], np.int64)
        samples = np.array([row.sample for row in rows], np.int64)
        chances = torch.from_numpy(counter_uniforms(settings.seed, lines, samples, step)).to(self.device)
        return draw(allowed, chances).clamp_max(allowed.size(1) - 1)  # where there are no numbers, a draw is past all
