"""The table of model families: a name, its settings, and the class that builds it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from regard.errors import ConfigError
from regard.models.convolutional import Convolutional, ConvolutionalSettings
from regard.models.interface import ModelSettings, Vocabularies
from regard.models.recurrent import RecurrentSettings, RecurrentTranslator
from regard.models.transformer import Transformer, TransformerSettings


@dataclass(frozen=True)
class Family:
    """A kind of model."""

    settings: type[ModelSettings]
    build: Callable[[Any, Vocabularies], nn.Module]


FAMILIES = {
    "convolutional": Family(ConvolutionalSettings, Convolutional),
    "recurrent": Family(RecurrentSettings, RecurrentTranslator),
    "transformer": Family(TransformerSettings, Transformer),
}


def family(name: str) -> Family:
    """Return the family of that name."""
    if name not in FAMILIES:
        raise ConfigError(f'model.family: "{name}" is not one of {", ".join(FAMILIES)}.')
    return FAMILIES[name]


def build_model(settings: ModelSettings, vocabularies: Vocabularies) -> nn.Module:
    """Return a freshly initialised model."""
    return family(settings.family).build(settings, vocabularies)


def count_parameters(settings: ModelSettings, vocabularies: Vocabularies) -> int:
    """Return how many numbers such a model learns, without making them; shared ones count once."""
    import torch

    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build_model(settings, vocabularies).parameters())
