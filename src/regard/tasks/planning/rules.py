"""Rules of planned defaults that tasks share; each is a function of a `PlanInput` with a reason for its value.

The constants were chosen on Multi30k, tiny Shakespeare, Wikipedia and the miniature world (benchmarks/RESULTS.md).
"""

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from regard.tasks.planning.inputs import Default, PlanInput, amount
from regard.tasks.planning.speed import tokens_within, updates_within
from regard.training.settings import OPEN_END

if TYPE_CHECKING:
    from regard.text.settings import TokenizerSettings

PRE_NORM_RATE = 0.5
"""Peak learning rate of Adam times the width, for norms before the sums."""
POST_NORM = 0.5
"""Factor on it for norms after the sums."""
RECURRENT_RATE, RECURRENT_WIDTH = 1.6e-3, 512
"""Peak learning rate of recurrent cells of this width; it falls with the width to the power of 2/3."""
CONVOLUTIONAL = 0.75
"""Factor on the rate of a Transformer, for convolutions."""
HIGHEST_RATE = 5e-3
REFERENCE_UPDATE, UPDATE_POWER = 8192, 0.15
"""Tokens of an update at which these rates hold, and the power of an update's size by which they grow."""
DEEP = 12
"""Layers above which the rate falls with the square root of the depth."""

SMALL_TEXT, SMALL_TEXT_VOCABULARY = 3.6e6, 8000
"""Characters of training text, and the vocabulary that suits them: below, it falls with the power 0.7; above, it
grows with 0.25."""
ROOM, LARGEST_ALPHABET = 100, 1000
"""Tokens of a vocabulary beside its characters, and the most of these in a WordPiece vocabulary."""
MEDIUM_EPOCH = 460_000
"""Tokens of an epoch whose updates have `REFERENCE_UPDATE` tokens on a GPU; they grow with the square root."""
WARMUP, POST_NORM_WARMUP = 600, 1500
"""Updates of the warm-up of a long run; norms after the sums need a longer one."""
WARMING, DEEP_WARMING = 0.1, 1 / 3
"""The largest fraction of a run for it, and for deep post-norm stacks: where the rate rises fast, their positions
become alike, so that cross-attention has nothing to choose from."""
DEEP_POST_NORM = 5
"""Layers from which a post-norm stack is deep; its rate is lower by the square root of what the warm-up lacks."""
ENOUGH_PASSES = 8
"""Passes over the data from which a model needs all of its regularization; one that sees all once needs none."""
FEWEST_UPDATES = 1000
"""Updates that a limited time has at least, if they need not be too small for it."""


def two_digits(value: float) -> float:
    """Return a value rounded to two significant digits."""
    return float(f"{value:.2g}")


def sizes(plan: PlanInput) -> str:
    """Return the sizes of data and model in words."""
    return f"{amount(plan.tokens)} tokens an epoch, {amount(plan.parameters)} parameters"


def training(plan: PlanInput, patience: int) -> Iterator[Default]:
    """Plan size, rate and number of updates, the average of the weights, and what the machine does for speed."""
    size = list(update_size(plan))
    tokens_per_update = int(plan.value("train.tokens_per_update", size))
    end = list(length(plan, tokens_per_update, patience))
    steps, minutes = int(plan.value("train.steps", end)), plan.train.minutes
    if minutes is not None:
        steps = min(steps, updates_within(plan, 60 * minutes, tokens_per_update))
    yield from size
    yield from peak_rate(plan, tokens_per_update, float(plan.value("train.warmup", end)))
    yield from end
    yield from average(plan, steps)
    yield from machine(plan, steps, tokens_per_update)
    yield from constants()


def vocabulary(plan: PlanInput, smallest: int = 300, largest: int = 50_000) -> Iterator[Default]:
    """Plan the size of a subword vocabulary from the amount of text."""
    text = plan.text
    if plan.survey is None or text.kind not in ("bpe", "wordpiece", "unigram") or plan.settings.init_from is not None:
        return
    ratio = plan.survey.weighted_characters / SMALL_TEXT
    size = SMALL_TEXT_VOCABULARY * ratio ** (0.7 if ratio < 1 else 0.25)
    reason = f"{amount(plan.survey.characters)} characters of text"
    if (alphabet := _alphabet(text, plan.survey.alphabet)) > max(size, smallest):
        size, reason = alphabet, f"{plan.survey.alphabet:,} distinct characters"
    yield Default("text.size", int(two_digits(min(largest, max(smallest, size)))), reason)


def _alphabet(text: "TokenizerSettings", characters: int) -> float:
    """Return the tokens that a vocabulary needs at least: characters, and in WordPiece again those inside words."""
    if text.pretokenizer == "byte-level":
        return 0.0
    return ROOM + 1.2 * (2 * min(characters, LARGEST_ALPHABET) if text.kind == "wordpiece" else characters)


def update_size(plan: PlanInput) -> Iterator[Default]:
    """Plan the tokens of an update: a power of two that grows with the square root of the data, and fits the time."""
    if plan.survey is None:
        return
    wanted = REFERENCE_UPDATE * math.sqrt(plan.tokens / MEDIUM_EPOCH) * (1 if plan.is_gpu else 0.25)
    fewest, most = (1024, 65_536) if plan.is_gpu else (512, 4096)
    tokens = min(most, max(fewest, 2 ** round(math.log2(max(1.0, wanted)))))
    reason = f"{amount(plan.tokens)} tokens an epoch, on {plan.device}"
    if (minutes := plan.train.minutes) is not None and plan.parameters:
        affordable = max(fewest, 2 ** int(math.log2(tokens_within(plan, 60 * minutes) / FEWEST_UPDATES + 1)))
        if affordable < tokens:
            tokens, reason = affordable, f"{minutes:g} minutes for {amount(plan.parameters)} parameters"
    yield Default("train.tokens_per_update", tokens, reason)


def peak_rate(plan: PlanInput, tokens_per_update: int, warmup: float = POST_NORM_WARMUP) -> Iterator[Default]:
    """Plan the peak learning rate from width, depth, order of norms and size of an update."""
    model = plan.settings.model
    train = plan.train
    if plan.settings.init_from is not None or train.schedule == "transformer" or train.optimizer == "sgd":
        return
    family, width = model.family, int(getattr(model, "cell_width", model.width))
    if family in ("recurrent", "recurrent-lm", "elmo"):
        rate = RECURRENT_RATE * (RECURRENT_WIDTH / width) ** (2 / 3)
        words = f"recurrent cells {width} wide"
    else:
        order = getattr(model, "norm_order", "pre")
        rate = PRE_NORM_RATE / width * (POST_NORM if order == "post" else 1)
        rate *= CONVOLUTIONAL if family == "convolutional" else 1
        depth = _depth(plan)
        rate *= math.sqrt(DEEP / depth) if depth > DEEP else 1
        words = f"width {width}" + (f", {depth} layers" if depth else "") + (f", {order}-norm" if depth else "")
        if _is_deep_post_norm(plan) and 1 <= warmup < POST_NORM_WARMUP:
            rate *= math.sqrt(warmup / POST_NORM_WARMUP)
            words += f", a warm-up of {warmup:.0f}"
    rate = min(HIGHEST_RATE, rate * (tokens_per_update / REFERENCE_UPDATE) ** UPDATE_POWER)
    yield Default("train.learning_rate", two_digits(rate), f"{words}, updates of {amount(tokens_per_update)} tokens")


def length(plan: PlanInput, tokens_per_update: int, patience: int) -> Iterator[Default]:
    """Plan the schedule, the end of the run, its warm-up and its validations."""
    train = plan.train
    per_epoch = max(1, round(plan.tokens / tokens_per_update)) if plan.survey else 0
    steps = train.steps
    if train.minutes is not None:
        steps = updates_within(plan, 60 * train.minutes, tokens_per_update)
        reason = f"{train.minutes:g} minutes are some {amount(steps)} updates"
        yield Default("train.steps", OPEN_END, f"no limit: {train.minutes:g} minutes end the run")
        yield Default("train.log_every", min(20, max(1, steps // 100)), reason)
        yield Default("train.schedule", "wsd", reason)
    elif plan.is_bounded:
        steps = math.ceil(train.epochs * per_epoch) if train.epochs and per_epoch else steps
        reason = f"{amount(steps)} updates are given"
        yield Default("train.schedule", "cosine", reason)
    else:
        if plan.survey:
            epochs = min(400.0, max(10.0, 150 * math.sqrt(1e6 / plan.tokens)))
            steps = max(1000, math.ceil(epochs * per_epoch))
            yield Default("train.steps", steps, f"a limit of {epochs:.0f} epochs; validation ends the run")
        reason = "validation ends the run"
        yield Default("train.schedule", "wsd", reason)
        yield Default("train.patience", patience, reason)
    yield from warmup(plan, steps)
    every = min(500, max(100, 4 * per_epoch) if per_epoch else 500, max(1, steps // 12))
    yield Default("train.validate_every", every, f"{per_epoch:,} updates an epoch" if per_epoch else reason)


def warmup(plan: PlanInput, steps: int) -> Iterator[Default]:
    """Plan the warm-up of a run of so many updates."""
    order = getattr(plan.settings.model, "norm_order", None)
    longest = POST_NORM_WARMUP if order == "post" else WARMUP
    fraction, part = (DEEP_WARMING, "third") if _is_deep_post_norm(plan) else (WARMING, "tenth")
    most = max(1, int(fraction * steps))
    enough = f"as long as {order}-norm stacks need it" if order else "longer ones gain nothing"
    yield Default(
        "train.warmup", min(longest, most), f"a {part} of {amount(steps)} updates" if most < longest else enough
    )


def _depth(plan: PlanInput) -> int:
    names = ("layers", "encoder_layers", "decoder_layers")
    return max(int(getattr(plan.settings.model, name, 0)) for name in names)


def _is_deep_post_norm(plan: PlanInput) -> bool:
    return getattr(plan.settings.model, "norm_order", None) == "post" and _depth(plan) >= DEEP_POST_NORM


def average(plan: PlanInput, steps: int) -> Iterator[Default]:
    """Plan an exponential moving average of the weights, over an eighth of a run that is long enough for one."""
    decay = 1 - 1 / min(1000, max(50, steps // 8))
    is_short = plan.is_bounded and steps < 4000
    yield Default("train.ema_decay", 0.0 if is_short else round(decay, 4), f"{amount(steps)} updates at most")


def passes(plan: PlanInput) -> float | None:
    """Return how often a run of a given length sees the data, about; None: validation ends it."""
    train = plan.train
    if not plan.tokens or plan.survey is None:
        return None
    if train.minutes is not None:
        return tokens_within(plan, 60 * train.minutes) / plan.tokens if plan.parameters else None
    if not plan.is_bounded:
        return None
    steps = train.steps * int(plan.value("train.tokens_per_update", update_size(plan))) / plan.tokens
    return min(steps, train.epochs or math.inf)


def repetition(plan: PlanInput) -> float:
    """Return the fraction of regularization that a model needs: it grows with the logarithm of the passes."""
    count = passes(plan)
    return 1.0 if count is None else min(1.0, max(0.0, math.log(max(count, 1.0), ENOUGH_PASSES)))


def regularized(plan: PlanInput) -> str:
    """Return what regularization follows from in words: sizes, and the passes where they are few."""
    count = passes(plan)
    few = f", {max(count, 0.1):.1f} passes" if count is not None and count < ENOUGH_PASSES else ""
    return sizes(plan) + few


def dropout(plan: PlanInput, names: tuple[str, ...], most: float = 0.3) -> Iterator[Default]:
    """Plan the rates of dropout from the tokens of data for each parameter, and from the passes over them."""
    ratio = plan.tokens_per_parameter
    if ratio is None or plan.settings.init_from is not None:
        return
    rate = 0.1 + 0.12 * math.log10(1.5 / ratio) - (0 if plan.is_gpu else 0.05)
    rate = round(repetition(plan) * min(most, max(0.0, rate)) / 0.05) * 0.05
    for name in names:
        is_slow = name == "attention_dropout" and not plan.is_gpu  # it leaves the fused kernel on a CPU
        if hasattr(plan.settings.model, name) and not is_slow:
            yield Default(f"model.{name}", round(rate, 2), regularized(plan))


CONSTANTS: dict[str, tuple[object, str]] = {
    "train.clip_norm": (1.0, "constant: it only acts on outliers"),
    "machine.precision": ("auto", "constant: bf16 where the device has it"),
    "machine.cuda_graphs": (True, "constant: replayed steps are the same steps"),
}
"""Settings that a plan leaves alone on purpose."""


def constants(settings: Mapping[str, tuple[object, str]] = MappingProxyType(CONSTANTS)) -> Iterator[Default]:
    """Plan the settings that do not depend on data, model or device, each with the reason."""
    for name, (value, reason) in settings.items():
        yield Default(name, value, reason)


def init_spread(plan: PlanInput) -> Iterator[Default]:
    """Plan the standard deviation of initial weights, sqrt(2 / 5D) (Nguyen and Salazar, 2019)."""
    model = plan.settings.model
    if hasattr(model, "init_std") and plan.settings.init_from is None:
        yield Default("model.init_std", two_digits(math.sqrt(0.4 / model.width)), f"width {model.width}")


def adamw(weight_decay: float, betas: tuple[float, float], kind: str) -> Iterator[Default]:
    """Plan Adam with decoupled weight decay, as models of a kind are trained."""
    yield Default("train.optimizer", "adamw", kind)
    yield Default("train.weight_decay", weight_decay, kind)
    yield Default("train.betas", list(betas), kind)


WORTH_COMPILING, COMPILABLE = 30_000_000, ("transformer", "gpt", "bert", "mask-predict")
"""Parameters from which a run on a GPU gains more from compiled blocks than it waits for them, and their families."""
SHORT_RUN = 120.0
"""Seconds of training below which a run does not wait for compilation."""


def machine(plan: PlanInput, steps: int, tokens_per_update: int) -> Iterator[Default]:
    """Plan compiled blocks and a residual stream in bf16 for large models on a GPU."""
    is_long = steps >= updates_within(plan, SHORT_RUN, tokens_per_update)
    if (minutes := plan.train.minutes) is not None:
        is_long = 60 * minutes >= 2 * SHORT_RUN
    refusal = (
        (not plan.is_gpu and f"not on {plan.device}")
        or (plan.settings.model.family not in COMPILABLE and f"not for the family {plan.settings.model.family}")
        or (plan.parameters < WORTH_COMPILING and f"{amount(plan.parameters)} parameters gain less than it takes")
        or (not is_long and "the run is short")
    )
    reason = refusal or f"{amount(plan.parameters)} parameters on {plan.device}, a long run"
    yield Default("machine.compile", not refusal, reason)
    if plan.settings.machine.precision == "fp32":
        refusal = reason = "fp32 is set"
    yield Default("machine.bf16_residual", not refusal, reason)
