"""Planned defaults of fine-tuning, and of training a head and its body from scratch."""

import math
from collections.abc import Iterator

from regard.tasks.finetune.settings import SCRATCH_RATE, TRAIN
from regard.tasks.planning import rules
from regard.tasks.planning.inputs import Default, PlanInput
from regard.training.settings import OPEN_END

CONSTANTS = {
    "objective.class_weights": ("none", "constant: no gain measured in the metric that selects"),
    "train.adapter": ("none", "constant: all weights are trained; no gain of adapters measured"),
    "train.unfreeze_over": (0.0, "constant: no gain measured"),
}
"""Settings that depend on neither data nor model."""
EXAMPLES, FEWEST_EXAMPLES, TOKENS = 32, 8, 30.0
"""Examples of an update, of one on few rows, and tokens of an example where the data cannot be surveyed: with them a
time is some number of updates."""
EXAMPLES_PER_UPDATE = 32
"""Rows for each example of an update, up to `EXAMPLES` of them."""
TUNED, FROM_SCRATCH = (300, 3, 20), (1000, 10, 40)
"""Updates that a run has at least, as far as the epochs allow, and the fewest and most epochs. Three are those of
Devlin et al. (2019); on few rows these are too few updates (Mosbach et al., 2021)."""


def fine_tuning_defaults(plan: PlanInput, metric: str) -> Iterator[Default]:
    """Plan the optimization; `metric` is the first one that is validated."""
    from regard.tasks.embedding_init import GROUP

    size = list(update_size(plan))
    examples = int(plan.value("train.examples_per_update", size) or EXAMPLES)
    if plan.train.minutes is not None:
        per_example = plan.tokens / plan.survey.rows if plan.survey else TOKENS
        yield from rules.length(plan, round(examples * per_example), 0)
        unplanned = ["schedule", "warmup", "validate_every"]
    else:
        yield from length(plan, examples)
        unplanned = []
    if "train.tokens_per_update" not in plan.given:
        yield from size
    for name, value in TRAIN.items():
        if name not in unplanned:
            yield Default(f"train.{name}", value, "fine-tuning")
    yield from rules.constants(CONSTANTS)
    yield Default("train.select_by", metric, "the task's first metric")
    model = plan.settings.model
    if plan.settings.init_from is None and not hasattr(plan.settings, GROUP):
        rate = rules.two_digits(SCRATCH_RATE / model.width)
        yield Default("train.learning_rate", rate, f"from scratch, width {model.width}")


def update_size(plan: PlanInput) -> Iterator[Default]:
    """Plan the examples of an update: fewer where they would be a large part of the rows."""
    rows = plan.survey.rows if plan.survey else EXAMPLES * EXAMPLES_PER_UPDATE
    examples = 2 ** round(math.log2(max(1, rows) / EXAMPLES_PER_UPDATE))
    yield Default("train.examples_per_update", min(EXAMPLES, max(FEWEST_EXAMPLES, examples)), f"{rows:,} rows")


def length(plan: PlanInput, examples: int) -> Iterator[Default]:
    """Plan the epochs: more where the rows are few."""
    from regard.tasks.init_from import is_tuned

    wanted, fewest, most = TUNED if is_tuned(plan.settings) else FROM_SCRATCH
    epochs = fewest
    if plan.survey is not None:
        epochs = min(most, max(fewest, math.ceil(wanted * examples / max(1, plan.survey.rows))))
    words = f"{plan.survey.rows:,} rows" if epochs > fewest and plan.survey else "as published"
    if not plan.is_bounded:
        yield Default("train.epochs", float(epochs), words)
    if "train.steps" not in plan.given:
        yield Default("train.steps", OPEN_END, "epochs end the run")
