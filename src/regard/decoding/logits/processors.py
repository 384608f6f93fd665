"""Logits processing: the filters of the settings in a fixed order, the same for every search."""

import torch
from torch import Tensor

from regard.decoding.logits.filters import allow_only, forbid_repeated_ngrams, penalize_repetition
from regard.decoding.logits.history import History
from regard.decoding.settings import GenerationSettings
from regard.decoding.steppers.interface import SpecialTokens


class LogitsProcessor:
    """Masks and penalties on next-token log probabilities, given the tokens so far; stateless between steps."""

    def __init__(self, settings: GenerationSettings, ends: SpecialTokens, weight: Tensor) -> None:
        self.settings, self.ends, self.device = settings, ends, weight.device
        never = [token for token in ends.never if token < weight.size(0)]
        self.never = torch.tensor(never, dtype=torch.long, device=self.device)
        self.never_early = torch.tensor([*never, ends.eos_id], dtype=torch.long, device=self.device)

    @property
    def changes_values(self) -> bool:
        """True where log probabilities of allowed tokens differ from the model's."""
        return self.settings.repetition_penalty > 1

    def __call__(self, log_p: Tensor, history: History) -> Tensor:
        """Return the log probabilities (R, V) of all rows under all constraints.

        Suppressed ids are set to -inf in `log_p` itself, which is too large to copy.
        """
        settings, eos = self.settings, self.ends.eos_id
        end = log_p[:, eos].clone() if settings.no_repeat_ngram_size else None
        is_early = history.lengths + 1 < settings.shortest if settings.shortest else None
        is_each_early = is_early is not None and bool(is_early.all())
        log_p.index_fill_(1, self.never_early if is_each_early else self.never, -torch.inf)
        if is_early is not None and not is_each_early and is_early.any():
            log_p[torch.from_numpy(is_early).to(self.device), eos] = -torch.inf
        allowed = log_p
        if settings.repetition_penalty > 1 or end is not None:
            allowed = self._by_past(log_p, history)
        if end is not None:
            # Where no other token is left, EOS is allowed, however early.
            is_stuck = allowed.amax(1) == -torch.inf
            for values in (allowed, log_p):
                values[:, eos] = torch.where(is_stuck, end, values[:, eos])
        is_in_prefix = history.prefix_steps and history.lengths.min() < history.prefix_steps
        return self._in_prefix(allowed, log_p, history) if is_in_prefix else allowed

    def _by_past(self, log_p: Tensor, history: History) -> Tensor:
        """Return the log probabilities without repetitions, rows with pasts of one length at a time."""
        penalty, size = self.settings.repetition_penalty, self.settings.no_repeat_ngram_size
        allowed = log_p.clone()
        for rows, past in history.same_length():
            if not past.size:
                continue
            tokens = torch.from_numpy(past).to(self.device)
            numbers = torch.from_numpy(rows).to(self.device)
            part = log_p if len(rows) == len(log_p) else log_p[numbers]
            part = penalize_repetition(part, tokens, penalty) if penalty > 1 else part
            part = forbid_repeated_ngrams(part, tokens, size) if size else part
            if len(rows) == len(log_p):
                return part
            allowed[numbers] = part
        return allowed

    def _in_prefix(self, allowed: Tensor, log_p: Tensor, history: History) -> Tensor:
        """Return the log probabilities with rows inside their prefix restricted to it, despite other filters."""
        for row in range(len(log_p)):
            prefix = history.request(row).prefix
            choices = prefix.choices_after(history.ids(row)) if prefix else None
            if choices is not None:
                allowed[row] = allow_only(log_p[row], torch.tensor(list(choices), device=self.device))
        return allowed
