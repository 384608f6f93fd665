"""German: morphology, phrases, and the order of the clause."""

from regard.miniature.german.clauses import in_german

__all__ = ["in_german"]
