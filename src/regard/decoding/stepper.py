"""One step of any decoder: the tokens chosen last go in, log probabilities of the next ones come out."""

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.models import Memory, SequenceToSequence, State


@dataclass(frozen=True)
class Hypothesis:
    """An output: its ids without start and end, its log probability, and that over the length penalty."""

    ids: list[int]
    log_probability: float
    score: float
    is_finished: bool
    """Whether it came to its end by itself, and was not cut off at the length limit."""


@dataclass(frozen=True)
class Ends:
    """The token every output starts with and the one that ends it, and those that are never said."""

    start: int
    end: int
    never: tuple[int, ...]


class Stepper:
    """Sentences under way, `beams` hypotheses for each; rows are ordered sentence by sentence."""

    def __init__(
        self, model: SequenceToSequence, memory: Memory, never: tuple[int, ...], device: torch.device
    ) -> None:
        self.model = model
        self.memory = memory
        self.state: State = model.start()
        self.never = torch.tensor(never, device=device)

    def step(self, tokens: Tensor) -> Tensor:
        """Return log probabilities (R, V) of what follows the tokens (R,)."""
        hidden = self.model.decode(tokens[:, None], self.memory, self.state)  # (R, 1, D)
        logits = self.model.project(hidden[:, -1]).float()
        return logits.index_fill_(1, self.never, -torch.inf).log_softmax(-1)

    def keep_hypotheses(self, rows: Tensor) -> None:
        """Go on with these rows of hypotheses, in this order."""
        self.state = self.state.select(rows)

    def keep_sentences(self, sentences: Tensor) -> None:
        """Go on with these sentences only; their hypotheses are chosen apart."""
        self.memory = self.memory.select(sentences)
