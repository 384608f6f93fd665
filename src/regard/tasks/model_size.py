"""New models, whose memory in training is checked before they are allocated."""

from typing import Any

import torch

from regard.errors import ConfigError
from regard.models.base.settings import HeadSettings, ModelSettings, Vocabularies
from regard.models.families import build_model, count_parameters
from regard.tasks.settings import RunSettings
from regard.training.device.machine import Machine

BYTES_PER_PARAMETER = 16
"""The weight, its gradient and Adam's two moments, in fp32."""


def check_size(parameters: int, machine: Machine) -> None:
    """Refuse a model whose weights, gradients and optimizer state exceed the memory of the machine."""
    needed = parameters * BYTES_PER_PARAMETER
    if needed > machine.memory:
        raise ConfigError(
            f"model: these sizes make {parameters:,} parameters; training takes {needed / 2**30:,.0f} GiB of the "
            f"{machine.memory / 2**30:,.0f} GiB on {machine.device}; choose a smaller preset or smaller widths."
        )


def new_model(
    settings: RunSettings[ModelSettings],
    vocabularies: Vocabularies,
    machine: Machine,
    head: HeadSettings | None = None,
) -> Any:
    """Return a model that depends on settings and seed alone; one too large to train is refused."""
    check_size(count_parameters(settings.model, vocabularies, head), machine)
    torch.manual_seed(settings.seed)
    return build_model(settings.model, vocabularies, head)
