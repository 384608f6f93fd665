"""Signs of trouble: a loss that is no number or explodes, and a model that has collapsed."""

import statistics
from dataclasses import dataclass

from regard.data.feeds.sampler import Position
from regard.errors import RunError
from regard.training.settings import TrainSettings
from regard.training.state import LoopState

WINDOWS_KNOWN, WINDOWS_NEEDED = 10, 5
"""Windows the usual loss is the median of, and how many it takes to have one."""
RISE, MARGIN = 1.5, 1.0
"""An explosion is a loss above RISE times the usual one plus MARGIN nats ..."""
ALARMS = 2
"""... in so many windows in a row."""
RATE_CUT = 0.5
"""What a return to the last good state leaves of the learning rate."""

SAME_OUTPUTS = 0.5
"""Share of outputs that are one and the same from which a model counts as collapsed."""
LEAST_FOCUS = 0.01
"""Distance of the sharpest cross-attention head from uniform (0; one word only: 1) under which it is blind."""


@dataclass(frozen=True)
class Divergence:
    """What went wrong, and the update to blame where it is known."""

    words: str
    position: Position | None = None


def notice_explosion(state: LoopState, loss: float) -> Divergence | None:
    """Take in the mean loss of a window; say so when the loss has left its usual range for good."""
    usual = statistics.median(state.recent) if len(state.recent) >= WINDOWS_NEEDED else None
    if usual is None or loss <= RISE * usual + MARGIN:
        state.recent = [*state.recent, loss][-WINDOWS_KNOWN:]
        state.alarms = 0
        return None
    state.alarms += 1
    if state.alarms < ALARMS:
        return None
    return Divergence(f"the loss exploded from {usual:.2f} to {loss:.2f}")


def learn_from(trouble: Divergence, failed: LoopState, good: LoopState, settings: TrainSettings) -> str:
    """Change the good state so that it fares better than the failed one did, and say how.

    The rate is cut; an update that makes the loss no number twice in a row, whatever the rate, is left out.
    """
    where = f"step {failed.step:,}: {trouble.words}"
    if failed.tries >= settings.rollbacks:
        times = "once" if failed.tries == 1 else f"{failed.tries} times"
        tried = f", also after going back {times}" if failed.tries else ""
        raise RunError(
            f"{where}{tried}; lower train.learning_rate (now {settings.peak_rate}) or raise train.warmup "
            f"(now {settings.warmup})."
        )
    good.tries = failed.tries + 1
    good.seconds, good.micro_batch_limit = failed.seconds, failed.micro_batch_limit
    back = f"back to step {good.step:,}"
    if trouble.position is not None and trouble.position == failed.blamed:
        good.skipped = [*failed.skipped, trouble.position]
        good.blamed, good.rate_factor = None, failed.rate_factor / RATE_CUT
        return (
            f"{where} at the same update again, so it is the update: {back} without it (update "
            f"{trouble.position.index + 1:,} of epoch {trouble.position.epoch + 1})."
        )
    good.blamed, good.rate_factor = trouble.position, failed.rate_factor * RATE_CUT
    return f"{where}; {back} with {good.rate_factor:.3g} of the learning rate."


def collapse(measured: dict[str, float], settings: TrainSettings, step: int) -> dict[str, str]:
    """Return what shows that a model has collapsed, in words by figure; before the warm-up ends nothing does."""
    found: dict[str, str] = {}
    if step <= settings.warmup:
        return found
    way_out = "lower train.learning_rate, raise train.warmup, or check that source and target lines belong together"
    same = measured.get("duplicate_outputs", 0.0)
    if same > SAME_OUTPUTS:
        found["duplicate_outputs"] = (
            f"step {step:,}: {same:.0%} of the outputs on validation sentences are one and the same, so the model "
            f"may have collapsed; {way_out}."
        )
    focus = measured.get("attention_focus", 1.0)
    if focus < LEAST_FOCUS:
        found["attention_focus"] = (
            f"step {step:,}: cross-attention looks at every source word alike (focus {focus:.4f} of 1), so the model "
            f"does not use its source; {way_out}."
        )
    return found
