"""Divergence detection and recovery: non-finite or exploding losses, and collapsed models."""

import statistics
from dataclasses import dataclass

from regard.data.feeds.sampler import Position
from regard.errors import RunError
from regard.training.settings import TrainSettings
from regard.training.state import LoopState

WINDOWS_KNOWN, WINDOWS_NEEDED = 10, 5
"""Number of windows whose median loss is the baseline, and the minimum for having one."""
RISE, MARGIN = 1.5, 1.0
"""An explosion is a loss above RISE times the baseline plus MARGIN nats ..."""
ALARMS = 2
"""... in this many consecutive windows."""
RATE_CUT = 0.5
"""Factor on the learning rate at each rollback."""

SAME_OUTPUTS = 0.5
"""Fraction of identical outputs above which a model counts as collapsed."""
LEAST_FOCUS = 0.01
"""Focus of the sharpest cross-attention head (uniform: 0; a single token: 1) below which the source is unused."""


@dataclass(frozen=True)
class Divergence:
    """A description of what went wrong, and the update that caused it where it is known."""

    message: str
    position: Position | None = None


def detect_explosion(state: LoopState, loss: float) -> Divergence | None:
    """Add the mean loss of a window to the state; return a divergence once it stays far above the baseline."""
    baseline = statistics.median(state.recent) if len(state.recent) >= WINDOWS_NEEDED else None
    if baseline is None or loss <= RISE * baseline + MARGIN:
        state.recent = [*state.recent, loss][-WINDOWS_KNOWN:]
        state.alarms = 0
        return None
    state.alarms += 1
    if state.alarms < ALARMS:
        return None
    return Divergence(f"the loss exploded from {baseline:.2f} to {loss:.2f}")


def recover(divergence: Divergence, failed: LoopState, good: LoopState, settings: TrainSettings) -> str:
    """Change the good state so that the failure is not repeated, and return a message that describes the change.

    The learning rate is cut; an update whose loss is non-finite twice in a row, at any rate, is skipped.
    """
    where = f"step {failed.step:,}: {divergence.message}"
    if failed.tries >= settings.rollbacks:
        count = "1 rollback" if failed.tries == 1 else f"{failed.tries} rollbacks"
        tried = f", also after {count}" if failed.tries else ""
        raise RunError(
            f"{where}{tried}; lower train.learning_rate (now {settings.peak_rate}) or raise train.warmup "
            f"(now {settings.warmup})."
        )
    good.tries = failed.tries + 1
    good.seconds, good.micro_batch_limit = failed.seconds, failed.micro_batch_limit
    back = f"rolled back to step {good.step:,}"
    if divergence.position is not None and divergence.position == failed.blamed:
        good.skipped = [*failed.skipped, divergence.position]
        good.blamed, good.rate_factor = None, failed.rate_factor / RATE_CUT
        return (
            f"{where} at the same update again; {back}, and this update is skipped from now on (update "
            f"{divergence.position.index + 1:,} of epoch {divergence.position.epoch + 1})."
        )
    good.blamed, good.rate_factor = divergence.position, failed.rate_factor * RATE_CUT
    return f"{where}; {back} with {good.rate_factor:.3g} times the learning rate."


def collapse(metrics: dict[str, float], settings: TrainSettings, step: int) -> dict[str, str]:
    """Return a warning for each metric that indicates a collapsed model; none before the warm-up ends."""
    warnings: dict[str, str] = {}
    if step <= settings.warmup:
        return warnings
    way_out = "lower train.learning_rate, raise train.warmup, or check that source and target lines belong together"
    identical = metrics.get("duplicate_outputs", 0.0)
    if identical > SAME_OUTPUTS:
        warnings["duplicate_outputs"] = (
            f"step {step:,}: {identical:.0%} of the outputs on validation sentences are identical, so the model "
            f"may have collapsed; {way_out}."
        )
    focus = metrics.get("attention_focus", 1.0)
    if focus < LEAST_FOCUS:
        warnings["attention_focus"] = (
            f"step {step:,}: cross-attention is nearly uniform (focus {focus:.4f} of 1), so the model does not use "
            f"its source; {way_out}."
        )
    return warnings
