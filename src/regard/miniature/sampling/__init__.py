"""Random sampling of meanings."""

from regard.miniature.sampling.sentences import sample

__all__ = ["sample"]
