"""Logits processing: the filters of the settings in a fixed order, the same for every decoding method."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.decoding.logits.filters import allow_only, forbid_repeated_ngrams, penalize_repetition
from regard.decoding.settings import DecodeSettings
from regard.decoding.steppers.interface import SpecialTokens
from regard.text.prefix import Prefix


class LogitsProcessor:
    """Masks and penalties on next-token log probabilities, given the tokens so far; stateless between steps."""

    def __init__(
        self, settings: DecodeSettings, ends: SpecialTokens, prefixes: Sequence[Prefix | None], device: torch.device
    ) -> None:
        self.settings, self.ends, self.prefixes, self.device = settings, ends, prefixes, device
        self.never = torch.tensor(ends.never, dtype=torch.long, device=device)
        self.never_early = torch.tensor((*ends.never, ends.eos_id), dtype=torch.long, device=device)
        self.prefix_steps = max((len(prefix.choices) for prefix in prefixes if prefix), default=0)

    @property
    def changes_values(self) -> bool:
        """True where log probabilities of allowed tokens differ from the model's."""
        return self.settings.repetition_penalty > 1

    def __call__(self, log_p: Tensor, past: NDArray[np.int64], sentences: NDArray[np.int64]) -> Tensor:
        """Return the log probabilities (R, V) under all constraints; row i is past[i], of sentence sentences[i].

        Suppressed ids are set to -inf in `log_p` itself, which is too large to copy.
        """
        settings, length = self.settings, past.shape[1]
        end = log_p[:, self.ends.eos_id].clone() if settings.no_repeat_ngram_size else None
        log_p.index_fill_(1, self.never_early if length + 1 < settings.min_length else self.never, -torch.inf)
        allowed = log_p
        if length and (settings.repetition_penalty > 1 or end is not None):
            tokens = torch.from_numpy(past).to(self.device)
            if settings.repetition_penalty > 1:
                allowed = penalize_repetition(allowed, tokens, settings.repetition_penalty)
            if end is not None:
                allowed = forbid_repeated_ngrams(allowed, tokens, settings.no_repeat_ngram_size)
                # Where no other token is left, EOS is allowed, however early.
                is_stuck = allowed.amax(1) == -torch.inf
                allowed[:, self.ends.eos_id] = torch.where(is_stuck, end, allowed[:, self.ends.eos_id])
        return self._in_prefix(allowed, log_p, past, sentences) if length < self.prefix_steps else allowed

    def _in_prefix(
        self, allowed: Tensor, log_p: Tensor, past: NDArray[np.int64], sentences: NDArray[np.int64]
    ) -> Tensor:
        """Return the log probabilities with rows inside their prefix restricted to it, despite other filters."""
        for row, sentence in enumerate(sentences.tolist()):
            prefix = self.prefixes[sentence]
            choices = prefix.choices_after(past[row].tolist()) if prefix else None
            if choices is not None:
                allowed[row] = allow_only(log_p[row], torch.tensor(list(choices), device=self.device))
        return allowed
