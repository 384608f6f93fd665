"""Settings of lists."""

from pydantic import Field

from regard.config.settings import Settings


class PresetSettings(Settings):
    """The vocabulary that the parameters of presets are counted with."""

    vocabulary: int = Field(37_000, ge=1)
    """Size in tokens of the shared vocabulary that parameters are counted with."""
