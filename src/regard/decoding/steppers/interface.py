"""One step of any decoder: the tokens chosen last go in, scores of the next ones come out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from regard.models.base.protocols import DecoderState, Memory, Seq2Seq


@dataclass(frozen=True)
class Hypothesis:
    """An output: its ids without start and end, its log probability, and what it is ranked by."""

    ids: list[int]
    log_probability: float
    """What the model gives it, end included, whatever penalties and constraints led to it."""
    score: float
    """The log probability with all penalties."""
    is_finished: bool
    """Whether it came to its end by itself, and was not cut off at the length limit."""


@dataclass(frozen=True)
class SpecialTokens:
    """The token every output starts with and the one that ends it, and those that are never said."""

    bos_id: int
    eos_id: int
    never: tuple[int, ...]


class Stepper(Protocol):
    """Sentences under way, as many hypotheses for each; rows are ordered sentence by sentence."""

    def step(self, tokens: Tensor) -> Tensor:
        """Return scores (R, V) of what follows the tokens (R,): log probabilities, but for a constant a row."""

    def reorder(self, hypotheses: Tensor, sentences: Tensor | None = None) -> None:
        """Go on with these rows of hypotheses, in this order; `sentences` are those that stay, unset: all."""


class ModelStepper:
    """Steps of one model."""

    def __init__(self, model: Seq2Seq, source: Tensor, token_mask: Tensor) -> None:
        self.model = model
        self.memory: Memory = model.encode(source, token_mask)
        self.state: DecoderState = model.start()

    def step(self, tokens: Tensor) -> Tensor:
        """Return the logits (R, V)."""
        hidden = self.model.decode(tokens[:, None], self.memory, self.state)  # (R, 1, D)
        return self.model.project(hidden[:, -1]).float()

    def reorder(self, hypotheses: Tensor, sentences: Tensor | None = None) -> None:
        """Select from the state, and from the memory when sentences leave."""
        self.state = self.state.select(hypotheses, sentences)
        if sentences is not None:
            self.memory = self.memory.select(sentences)


class EnsembleStepper:
    """Steps of several models: the mean of their probabilities."""

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
    """Return the log of the mean of the probabilities (..., V) that several models' logits stand for."""
    log_p = [each.log_softmax(-1) for each in logits]
    if len(log_p) == 1:
        return log_p[0]
    return torch.stack(log_p).logsumexp(0) - torch.tensor(float(len(log_p))).log()
