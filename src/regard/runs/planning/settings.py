"""Settings of lists and plans."""

from typing import Annotated, Literal

from pydantic import Field

from regard.config.settings import Settings


class PresetSettings(Settings):
    """The vocabulary that the parameters of presets are counted with."""

    vocabulary: int = Field(37_000, ge=1)
    """Size in tokens of the shared vocabulary that parameters are counted with."""


class ClusterSettings(Settings):
    """The devices of a planned run; nothing of them has to be there."""

    nodes: int = Field(1, ge=1, le=100_000)
    """Number of hosts."""
    gpus: int = Field(1, ge=1, le=64)
    """Number of devices (processes) on each host."""
    device: Literal["this", "h200", "h100", "a100"] = "this"
    """Kind of device; this: the one of this machine, whose speed is measured on the data of the run."""
    tokens: Annotated[float, Field(gt=0)] | Literal["steps"] = "steps"
    """Training tokens whose time is computed, such as 3e11; steps: those of train.steps."""
    tokens_per_second: float | None = Field(None, gt=0)
    """Target tokens per second of one device that trains alone (default: measured, or that of the H200 by kind of
    model)."""
    within: float | None = Field(None, gt=0)
    """Bandwidth between two devices of a host, in GB/s in each direction (default: by device)."""
    between: float | None = Field(None, gt=0)
    """Bandwidth of one device to other hosts, in GB/s in each direction (default: by device)."""
    overlap: float | None = Field(None, ge=0, le=1)
    """Fraction of an exchange that runs beside computation, where there is enough of that (default: by device)."""
