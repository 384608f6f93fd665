"""Stepper interface: one decoding step of any model, from the newest tokens to next-token scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from regard.models.base.protocols import DecoderState, Memory, Seq2Seq


@dataclass(frozen=True)
class Hypothesis:
    """A decoded output: its ids without BOS and EOS, its log probability, and the score it is ranked by."""

    ids: list[int]
    log_probability: float
    """Log probability under the model, EOS included, without penalties and constraints."""
    score: float
    """The log probability with all penalties."""
    is_finished: bool
    """True if it ended with EOS, False if it was truncated at the length limit."""


@dataclass(frozen=True)
class SpecialTokens:
    """The ids of BOS and EOS, and those that are never generated."""

    bos_id: int
    eos_id: int
    never: tuple[int, ...]


class Stepper(Protocol):
    """A batch being decoded, with the same number of hypotheses for each sentence; rows are ordered by sentence."""

    def step(self, tokens: Tensor) -> Tensor:
        """Return next-token scores (R, V) after tokens (R,): log probabilities up to a constant for each row."""

    def reorder(self, hypotheses: Tensor, sentences: Tensor | None = None) -> None:
        """Select rows of hypotheses, in this order; `sentences` are those that stay (default: all)."""


class ModelStepper:
    """Stepper of one encoder-decoder model."""

    def __init__(self, model: Seq2Seq, source: Tensor, token_mask: Tensor) -> None:
        self.model = model
        self.memory: Memory = model.encode(source, token_mask)
        self.state: DecoderState = model.start()

    def step(self, tokens: Tensor) -> Tensor:
        """Return the logits (R, V)."""
        hidden = self.model.decode(tokens[:, None], self.memory, self.state)  # (R, 1, D)
        return self.model.project(hidden[:, -1]).float()

    def reorder(self, hypotheses: Tensor, sentences: Tensor | None = None) -> None:
        """Select rows of the state, and of the memory where sentences leave."""
        self.state = self.state.select(hypotheses, sentences)
        if sentences is not None:
            self.memory = self.memory.select(sentences)


class EnsembleStepper:
    """Stepper of an ensemble: the mean of its members' probabilities."""

    def __init__(self, members: Sequence[Stepper]) -> None:
        self.members = members

    def step(self, tokens: Tensor) -> Tensor:
        """Return the log of the mean probability (R, V)."""
        return mean_log_probability([member.step(tokens) for member in self.members])

    def reorder(self, hypotheses: Tensor, sentences: Tensor | None = None) -> None:
        """Reorder every member."""
        for member in self.members:
            member.reorder(hypotheses, sentences)


def mean_log_probability(logits: Sequence[Tensor]) -> Tensor:
    """Return the log of the mean probability (..., V) over several models' logits (..., V)."""
    log_p = [each.log_softmax(-1) for each in logits]
    if len(log_p) == 1:
        return log_p[0]
    return torch.stack(log_p).logsumexp(0) - torch.tensor(float(len(log_p))).log()
