"""Meanings, drawn at random."""

from regard.data.miniature.sampling.sentences import sample

__all__ = ["sample"]
