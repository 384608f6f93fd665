"""Detection of models that learn nothing: constant predictions, unused sources, losses that do not fall."""

from collections.abc import Mapping, Sequence

from regard.training.settings import LoopSettings, TrainSettings
from regard.training.state import LoopState

SAME_OUTPUTS = 0.5
"""Fraction of identical outputs above which a model counts as collapsed."""
LEAST_FOCUS = 0.01
"""Focus of the sharpest cross-attention head (uniform: 0; a single token: 1) below which the source is unused."""
LOSS_MARGIN, SCORE_MARGIN = 0.01, 1e-6
"""A loss, or a score, is at the level of a constant prediction up to this fraction."""
LEARNED = 0.1
"""Fraction by which a training loss is lower than that level, or than in the first updates, in a model that has
learned something, if only by heart."""
FALLING = 0.02
"""Fraction by which the training loss falls over the latest windows where a model is only slow to learn."""
FAR = 1.3, 2.0
"""A training loss is far above the level of a constant prediction if it is higher than so many times it plus so many
nats: more than a uniform prediction has for most vocabularies."""
FEWEST_UPDATES, VALIDATIONS = 300, 3
"""Updates after the warm-up, and consecutive validations, after which a model counts as one that learns nothing."""
FEWEST_IN_ALL = 20
"""Updates after the warm-up from which a loss that is still high is worth a word where a run ends."""
SHORT_RUN, FEWEST_OF_SHORT = 0.5, 150
"""In a run of a fixed length, that fraction of its updates suffices, if it is so many."""


def standstill(
    metrics: Mapping[str, float], baseline: Mapping[str, float], state: LoopState, train_loss: float | None = None
) -> dict[str, str]:
    """Return what shows that a model has learned nothing, by the metric that shows it.

    `baseline` has metrics of the best constant prediction; a model is at that level only if its training loss is too
    (a model that overfits has learned something). Where there is none, the training loss since the first updates is
    compared.
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
    if known and _is_constant(metrics, known, state, train_loss):
        name, level = next(iter(known.items()))
        reasons["baseline"] = (
            f"the validation's {name.replace('_', ' ')} of {metrics[name]:.4g} is that of a constant prediction "
            f"({level:.4g})"
        )
    if not known and (reason := does_not_fall(state.first_loss, state.recent)):
        reasons["train_loss"] = reason
    return reasons


def _is_constant(
    metrics: Mapping[str, float], known: Mapping[str, float], state: LoopState, train_loss: float | None
) -> bool:
    """Return True for metrics no better than those of a constant prediction, in validation and in training.

    A training loss that is falling is no standstill yet. Scores of outputs at random may be a little better; then the
    training loss must not have fallen at all, or be far above that level.
    """
    at = {name: _is_at(name, metrics[name], level) for name, level in known.items()}
    loss, recent = next((name for name in known if name.endswith("loss")), None), state.recent
    is_falling = len(recent) > 1 and recent[-1] < (1 - FALLING) * recent[0]
    is_still = False
    if loss is not None:
        is_worse = train_loss is not None and train_loss > FAR[0] * known[loss] + FAR[1]
        is_still = at[loss] and (is_worse or bool(does_not_fall(state.first_loss, recent)))
    if not is_still and (is_falling or not all(at.values())):
        return False
    start = state.first_loss if loss is None else known[loss]
    return train_loss is None or start is None or train_loss > (1 - LEARNED) * start


def does_not_fall(first: float | None, recent: Sequence[float]) -> str:
    """Return the sentence on a training loss that is not below that of the first updates; empty if it is."""
    if first is None or len(recent) < VALIDATIONS or min(recent) < first * (1 - LOSS_MARGIN):
        return ""
    return f"the training loss is {min(recent):.4g}, and was {first:.4g} in the first updates"


def _is_at(name: str, value: float, level: float) -> bool:
    if name.endswith("loss"):
        return value >= level * (1 - LOSS_MARGIN)
    return value <= level * (1 + SCORE_MARGIN) + SCORE_MARGIN


def learns_nothing(state: LoopState, settings: TrainSettings) -> bool:
    """Return True once a standstill has lasted too long to be the slow beginning of a model that learns."""
    return is_standing_still(state, settings) and state.stuck >= VALIDATIONS and state.decay_from is None


def worth_telling(
    reasons: Mapping[str, str], state: LoopState, settings: TrainSettings, last_step: int
) -> dict[str, str]:
    """Return the reasons for a warning: all after the beginning; equal outputs also at the end of any run."""
    if is_standing_still(state, settings):
        return dict(reasons)
    if state.step != last_step:
        return {}
    is_long = state.step >= int(settings.warmup) + FEWEST_IN_ALL
    return {
        name: each for name, each in reasons.items() if is_long or name in ("duplicate_outputs", "attention_focus")
    }


def is_standing_still(state: LoopState, settings: TrainSettings) -> bool:
    """Return True if a standstill is worth a warning: it is no longer the beginning."""
    return state.stuck > 0 and state.step >= beginning(settings)


def beginning(settings: TrainSettings) -> int:
    """Return the updates in which nothing needs to be learned yet."""
    warmup = int(settings.warmup)
    if settings.ends_itself:
        return warmup + FEWEST_UPDATES
    of_short = max(FEWEST_OF_SHORT, round(SHORT_RUN * (settings.steps - warmup)))
    return warmup + min(FEWEST_UPDATES, of_short)


def way_out(settings: LoopSettings, step: int | None = None) -> str:
    """Return what to change where a model learns nothing; at a `step` in the beginning, it may learn yet."""
    if isinstance(settings, TrainSettings) and step is not None and step < beginning(settings):
        return f"{step:,} updates are few, so train longer, or check that inputs and targets belong together"
    rate = settings.learning_rate or getattr(settings, "peak_rate", None)
    now = "" if rate is None else f" (now {rate:g})"
    warmup = f", raise train.warmup (now {settings.warmup})," if isinstance(settings, TrainSettings) else ""
    return f"lower train.learning_rate{now}{warmup} or check that inputs and targets belong together"
