"""Sequences out of any decoder, over one stepper."""

from torch import Tensor

from regard.decoding.beam import beam_search
from regard.decoding.greedy import greedy
from regard.decoding.settings import DecodeSettings, length_penalty
from regard.decoding.stepper import Ends, Hypothesis, Stepper
from regard.models import SequenceToSequence

__all__ = [
    "DecodeSettings",
    "Ends",
    "Hypothesis",
    "Stepper",
    "beam_search",
    "decode",
    "greedy",
    "length_penalty",
]


def decode(
    model: SequenceToSequence, source: Tensor, real: Tensor, ends: Ends, settings: DecodeSettings
) -> list[list[Hypothesis]]:
    """Return the hypotheses of each source, best first, by the method the settings ask for."""
    method = greedy if settings.beams == 1 else beam_search
    return method(model, source, real, ends, settings)
