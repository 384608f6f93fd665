"""Stepper of an ensemble of models over one vocabulary."""

from collections.abc import Sequence

from torch import Tensor

from regard.decoding.steppers.interface import Request, Stepper, mean_log_probability


class EnsembleStepper:
    """The mean of the members' probabilities."""

    has_prompts = False

    def __init__(self, members: Sequence[Stepper]) -> None:
        self.members = members

    def admit(self, requests: Sequence[Request], hypotheses: int = 1, is_shared: bool = True) -> Tensor:
        """Return the log of the mean probability (B, V) at the start of each output."""
        return mean_log_probability([member.admit(requests, hypotheses, is_shared) for member in self.members])

    def step(self, tokens: Tensor) -> Tensor:
        """Return the log of the mean probability (R, V)."""
        return mean_log_probability([member.step(tokens) for member in self.members])

    def reorder(self, rows: Tensor, requests: Tensor | None = None) -> None:
        """Reorder every member."""
        for member in self.members:
            member.reorder(rows, requests)
