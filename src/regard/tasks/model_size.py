"""The memory of a model in training, checked before it is allocated."""

from regard.errors import ConfigError
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
