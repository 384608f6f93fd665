"""Detection of models that learn nothing: constant predictions, unused sources, losses that do not fall."""

from collections.abc import Mapping

from regard.training.settings import TrainSettings
from regard.training.state import LoopState

SAME_OUTPUTS = 0.5
"""Fraction of identical outputs above which a model counts as collapsed."""
LEAST_FOCUS = 0.01
"""Focus of the sharpest cross-attention head (uniform: 0; a single token: 1) below which the source is unused."""
LOSS_MARGIN, SCORE_MARGIN = 0.01, 1e-6
"""A loss, or a score, is at the level of a constant prediction up to this fraction."""
FEWEST_UPDATES, VALIDATIONS = 300, 3
"""Updates after the warm-up, and consecutive validations, after which a model counts as one that learns nothing."""
FEWEST_IN_ALL = 20
"""Updates after the warm-up from which the end of a run that has learned nothing is worth a warning."""


def standstill(
    metrics: Mapping[str, float], baseline: Mapping[str, float], state: LoopState, train_loss: float | None = None
) -> dict[str, str]:
    """Return what shows that a model has learned nothing, by the metric that shows it.

    `baseline` has metrics of the best constant prediction; a model is at that level only if all of them are, and if
    its training loss is too (a model that overfits has learned something). Where there is none, the training loss
    since the first updates is compared.
    """
    reasons: dict[str, str] = {}
    identical, focus = metrics.get("duplicate_outputs", 0.0), metrics.get("attention_focus", 1.0)
    if identical > SAME_OUTPUTS:
        reasons["duplicate_outputs"] = f"{identical:.0%} of the outputs on validation sentences are identical"
    if focus < LEAST_FOCUS:
        reasons["attention_focus"] = (
            f"cross-attention is nearly uniform (focus {focus:.4f} of 1), so the model does not use its source"
        )
    known = {name: level for name, level in baseline.items() if name in metrics}
    if known and all(_is_at(name, metrics[name], level) for name, level in known.items()):
        name, level = next(iter(known.items()))
        if train_loss is None or "loss" not in name or train_loss > (1 - 10 * LOSS_MARGIN) * level:
            reasons["baseline"] = (
                f"the validation's {name.replace('_', ' ')} of {metrics[name]:.4g} is that of a constant prediction "
                f"({level:.4g})"
            )
    first, recent = state.first_loss, state.recent
    if not known and first is not None and len(recent) >= VALIDATIONS and min(recent) >= first * (1 - LOSS_MARGIN):
        reasons["train_loss"] = f"the training loss is {min(recent):.4g}, and was {first:.4g} in the first updates"
    return reasons


def _is_at(name: str, value: float, level: float) -> bool:
    if "loss" in name:
        return value >= level * (1 - LOSS_MARGIN)
    return value <= level * (1 + SCORE_MARGIN) + SCORE_MARGIN


def learns_nothing(state: LoopState, settings: TrainSettings) -> bool:
    """Return True once a standstill has lasted too long to be the slow beginning of a model that learns."""
    return is_standing_still(state, settings) and state.stuck >= VALIDATIONS and state.decay_from is None


def is_standing_still(state: LoopState, settings: TrainSettings, last_step: int | None = None) -> bool:
    """Return True if a standstill is worth a warning: it is no longer the very beginning, or it is the end."""
    needed = FEWEST_IN_ALL if state.step == last_step else FEWEST_UPDATES
    return state.stuck > 0 and state.step >= int(settings.warmup) + needed


def way_out(settings: TrainSettings) -> str:
    """Return what to change where a model learns nothing."""
    return (
        f"lower train.learning_rate (now {settings.peak_rate:g}), raise train.warmup (now {settings.warmup}), or "
        f"check that inputs and targets belong together"
    )
