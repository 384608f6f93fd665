"""Divergence detection and recovery: non-finite or exploding losses."""

import statistics
from dataclasses import dataclass

from regard.data.feeds.sampler import Position
from regard.errors import RunError
from regard.training.settings import LoopSettings, TrainSettings
from regard.training.state import LoopState

WINDOWS_KNOWN, WINDOWS_NEEDED = 10, 5
"""Number of windows whose median loss is the baseline, and the minimum for having one."""
RISE, MARGIN = 1.5, 1.0
"""An explosion is a loss above RISE times the baseline plus MARGIN nats ..."""
ALARMS = 2
"""... in this many consecutive windows."""
RATE_CUT = 0.5
"""Factor on the learning rate at each rollback."""


@dataclass(frozen=True)
class Divergence:
    """A description of what went wrong, and the update that caused it where it is known."""

    message: str
    position: Position | None = None
    restarts: bool = False
    """The model has learned nothing: training starts again from the beginning."""


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


def restarted(failed: LoopState, settings: LoopSettings, reason: str, way_out: str) -> tuple[LoopState, str]:
    """Return the state of a new attempt from the beginning at half the rate, and the message about it."""
    where = f"step {failed.step:,}: {reason}"
    if failed.restarts >= settings.rollbacks:
        attempts = f", at {1 + failed.restarts} learning rates" if failed.restarts else ""
        raise RunError(f"{where}: the model learns nothing{attempts}; {way_out}.")
    state = LoopState(
        seconds=failed.seconds,
        micro_batch_limit=failed.micro_batch_limit,
        rate_factor=failed.rate_factor * RATE_CUT,
        restarts=failed.restarts + 1,
    )
    return state, (
        f"{where}; the model learns nothing, so training starts again from step 0 with {state.rate_factor:.3g} times "
        f"the learning rate."
    )
