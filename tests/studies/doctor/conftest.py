"""Small runs to check: clean ones and damaged ones."""

from examined import setup, shift, sound, write

__all__ = ["setup", "shift", "sound", "write"]
