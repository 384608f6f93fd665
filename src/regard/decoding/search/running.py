"""A request under way: its hypotheses so far, and the text that can no longer change."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.decoding.steppers.interface import Hypothesis, Request
from regard.errors import CheckpointError
from regard.text.detokenizer import Detokenizer

NO_NUMBERS = "The model gives no probabilities: its weights are not numbers; use another one."
"""Error where no output has a probability."""


@dataclass(frozen=True)
class ListedToken:
    """A token with its log probability, and the most probable tokens at its position with theirs."""

    id: int
    log_probability: float
    alternatives: tuple[tuple[int, float], ...]


@dataclass(eq=False)
class RunningRequest:
    """A request in a session, with its finished hypotheses; all of them once it is done."""

    request: Request
    hypotheses: list[Hypothesis] = field(default_factory=list)
    samples: dict[int, Hypothesis] = field(default_factory=dict)
    """Finished samples by their number."""
    is_done: bool = False
    detokenizer: Detokenizer | None = None
    """Writes the text of a request that is streamed."""
    chunk: str = ""
    """The text that the last step made final, of a request that is streamed."""
    written: int = 0
    """Tokens given to the detokenizer."""
    tokens: list[ListedToken] = field(default_factory=list)
    """The tokens so far, EOS included, of a request with alternatives."""

    def write(self, ids: list[int]) -> None:
        """Add the text of a token sequence, of which earlier calls gave a beginning."""
        assert self.detokenizer is not None, "only of a request that is streamed"
        for token in ids[self.written :]:
            if not self.detokenizer.is_stopped:
                self.chunk += self.detokenizer.write(token)
        self.written = max(self.written, len(ids))

    def finish(self) -> None:
        """Mark the request as done, and add the rest of the text of its first hypothesis."""
        if not self.hypotheses:
            raise CheckpointError(NO_NUMBERS)
        self.is_done = True
        if self.detokenizer is not None:
            self.write(self.hypotheses[0].ids)
            self.chunk += self.detokenizer.close()


def without_gaps(is_staying: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the rows that stay in an order that moves few: the last ones take the places of those that leave."""
    count = int(is_staying.sum())
    rows = np.arange(count)
    rows[~is_staying[:count]] = count + np.flatnonzero(is_staying[count:])
    return rows


def log_probabilities(scores: Sequence[Tensor]) -> Tensor:
    """Return the log probabilities (R, V) for scores of the rows of a batch, and of those that join it."""
    if len(scores) == 1:
        return scores[0].log_softmax(-1)
    rows = [len(each) for each in scores]
    together = scores[0].new_empty(sum(rows), scores[0].size(1))
    for each, part in zip(scores, together.split(rows), strict=True):
        torch.log_softmax(each, -1, out=part)
    return together
