"""Shapes of models where no preset is chosen: a GPU trains larger ones on more text in more time."""

import math
from collections.abc import Iterator

from regard.tasks.planning.inputs import Default, PlanInput, amount

SHAPES = ((200_000, 256, 4), (2_000_000, 384, 6), (50_000_000, 512, 8), (math.inf, 768, 12))
"""Tokens of an epoch up to which a GPU trains a stack of this width and depth."""
IN_A_MINUTE = 1.5e7
"""Parameters of the blocks of a stack that a GPU trains in a minute; they grow with the square root of the time, as
the best size for an amount of arithmetic does (Hoffmann et al., 2022)."""


def decoder_shape(plan: PlanInput) -> Iterator[Default]:
    """Plan the shape of a language model on a GPU."""
    yield from encoder_shape(plan)
    if plan.is_gpu and plan.survey is not None:
        positions = 256 if plan.tokens < 2_000_000 else 512
        yield Default("model.max_positions", positions, f"{amount(plan.tokens)} tokens of text")


def encoder_shape(plan: PlanInput) -> Iterator[Default]:
    """Plan the shape of a stack of blocks on a GPU."""
    if not plan.is_gpu or plan.survey is None:
        return
    width, layers = next((width, layers) for tokens, width, layers in SHAPES if plan.tokens <= tokens)
    reason = f"{amount(plan.tokens)} tokens an epoch, on a GPU"
    if (minutes := plan.train.minutes) is not None:
        most = IN_A_MINUTE * math.sqrt(minutes)
        affordable = [each for each in SHAPES if 12 * each[2] * each[1] ** 2 <= most]
        _, widest, deepest = affordable[-1] if affordable else SHAPES[0]
        if widest < width:
            width, layers, reason = widest, deepest, f"{minutes:g} minutes on a GPU"
    for name, value in {
        "width": width,
        "layers": layers,
        "heads": width // 64,
        "feed_forward_width": 4 * width,
    }.items():
        yield Default(f"model.{name}", value, reason)


ELMOS = ((200_000, 128), (2_000_000, 512), (math.inf, 1024))
"""Words of an epoch up to which a GPU trains cells of this width; the last is the authors' small model."""
ELMO_MINUTES = 10
"""Minutes below which the smallest cells are trained."""


def elmo_shape(plan: PlanInput) -> Iterator[Default]:
    """Plan the shape of an ELMo on a GPU."""
    minutes = plan.train.minutes
    if not plan.is_gpu or plan.survey is None or (minutes is not None and minutes < ELMO_MINUTES):
        return
    cells = next(cells for words, cells in ELMOS if plan.tokens <= words)
    if cells > ELMOS[0][1]:
        reason = f"{amount(plan.tokens)} words an epoch, on a GPU"
        yield Default("model.cell_width", cells, reason)
        yield Default("model.width", 128, reason)
