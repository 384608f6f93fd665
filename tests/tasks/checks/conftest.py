"""Small runs to look over, sound ones and spoilt ones."""

from examined import material, shift, sound, write

__all__ = ["material", "shift", "sound", "write"]
