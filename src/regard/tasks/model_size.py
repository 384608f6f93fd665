"""Whether a model can be trained on a machine at all."""

from regard.errors import ConfigError
from regard.training.device.machine import Machine

BYTES_PER_PARAMETER = 16
"""The weight, its gradient and Adam's two moments, in fp32."""


def check_size(parameters: int, machine: Machine) -> None:
    """Refuse a model that cannot be trained here before its memory is asked for."""
    needed = parameters * BYTES_PER_PARAMETER
    if needed > machine.memory:
        raise ConfigError(
            f"model: these sizes make {parameters:,} parameters; training takes {needed / 2**30:,.0f} GiB of the "
            f"{machine.memory / 2**30:,.0f} GiB on {machine.device}; choose a smaller preset or smaller widths."
        )
