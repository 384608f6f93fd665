"""Meanings, drawn at random."""

from regard.miniature.sampling.sentences import sample

__all__ = ["sample"]
