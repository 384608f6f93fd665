"""Small runs to look over, sound ones and spoilt ones."""

from examined import bench, material, shift, sound, write

__all__ = ["bench", "material", "shift", "sound", "write"]
