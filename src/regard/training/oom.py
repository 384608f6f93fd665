"""What to do when memory runs out: compute less at once, and learn from the same examples."""

from collections.abc import Callable

from regard.data.feeds.feed import Update
from regard.errors import RunError
from regard.nn.inference.memory import is_out_of_memory


def smaller_limit(update: Update, step: int) -> int:
    """Return a limit on micro-batches under which the update is cut further."""
    if update.divisible == 0:
        raise RunError(
            f"step {step}: memory runs out on a single example; lower data.cleaning.max_tokens, or choose a smaller "
            f"model."
        )
    return max(1, update.divisible // 2)


def validated(validate: Callable[[], dict[str, float]], make_room: Callable[[], None], step: int) -> dict[str, float]:
    """Return what validation finds; where memory is too short for it beside recorded steps, these have to go."""
    for has_room in (False, True):
        try:
            return validate()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
        if not has_room:  # outside the handler, which would keep alive what the attempt held
            make_room()
    raise RunError(
        f"step {step:,}: memory runs out while validating; lower validation.bleu_sentences or "
        f"data.cleaning.max_tokens, or choose a smaller model."
    )
