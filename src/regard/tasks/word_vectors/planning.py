"""Planned defaults of word vectors."""

import math
from collections.abc import Iterator

from regard.tasks.planning.inputs import Default, PlanInput, amount

EPOCHS, ENOUGH_WORDS, MOST_EPOCHS = 5, 5e6, 50
"""Epochs of Mikolov et al. (2013), the words of text from which they suffice, and the most epochs on fewer."""


def vector_defaults(plan: PlanInput) -> Iterator[Default]:
    """Plan the epochs: they grow with the square root of what the words lack."""
    if plan.survey is None:
        return
    epochs = EPOCHS * math.sqrt(max(1.0, ENOUGH_WORDS / plan.tokens))
    yield Default("train.epochs", float(min(MOST_EPOCHS, round(epochs))), f"{amount(plan.tokens)} words of text")
