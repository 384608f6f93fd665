"""Out-of-memory recovery: smaller micro-batches of the same examples, and fewer captured graphs."""

from collections.abc import Callable

from regard.data.feeds.feed import Update
from regard.errors import RunError
from regard.nn.inference.memory import is_out_of_memory


def smaller_limit(update: Update, step: int) -> int:
    """Return a limit on micro-batches, in padded tokens, under which the update is split further."""
    if update.divisible == 0:
        raise RunError(
            f"step {step}: out of memory on a single example; lower data.cleaning.max_tokens, or choose a smaller "
            f"model."
        )
    return max(1, update.divisible // 2)


def validate_or_release(
    validate: Callable[[], dict[str, float]], release: Callable[[], None], step: int
) -> dict[str, float]:
    """Return the validation metrics; if memory runs out, release captured graphs and try once more."""
    for is_released in (False, True):
        try:
            return validate()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
        if not is_released:  # outside the handler, whose traceback would keep the failed attempt's tensors alive
            release()
    raise RunError(
        f"step {step:,}: out of memory while validating; lower validation.bleu_sentences or "
        f"data.cleaning.max_tokens, or choose a smaller model."
    )
