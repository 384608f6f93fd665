"""English: morphology, phrases, and the order of the clause."""

from regard.miniature.english.clauses import in_english

__all__ = ["in_english"]
