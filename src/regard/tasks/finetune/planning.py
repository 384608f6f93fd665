"""Planned defaults of fine-tuning, and of training a head and its body from scratch."""

from collections.abc import Iterator

from regard.tasks.finetune.settings import SCRATCH_RATE, TRAIN
from regard.tasks.planning import rules
from regard.tasks.planning.inputs import Default, PlanInput

CONSTANTS = {
    "objective.class_weights": ("none", "constant: no gain measured in the metric that selects"),
    "train.adapter": ("none", "constant: all weights are trained; no gain of adapters measured"),
    "train.unfreeze_over": (0.0, "constant: no gain measured"),
}
"""Settings that depend on neither data nor model."""
EXAMPLES, TOKENS = 32, 30.0
"""Examples of an update, and tokens of an example where the data cannot be surveyed: with them a time is some number
of updates."""


def fine_tuning_defaults(plan: PlanInput, metric: str) -> Iterator[Default]:
    """Plan the optimization; `metric` is the first one that is validated."""
    from regard.tasks.embedding_init import GROUP

    if plan.train.minutes is not None:
        per_example = plan.tokens / plan.survey.rows if plan.survey else TOKENS
        yield from rules.length(plan, round(EXAMPLES * per_example), 0)
        unplanned = ["schedule", "warmup", "validate_every"]
    else:
        unplanned = []
    counts_tokens = "train.tokens_per_update" in plan.given
    for name, value in TRAIN.items():
        if name not in unplanned and not (counts_tokens and name == "examples_per_update"):
            yield Default(f"train.{name}", value, "fine-tuning")
    yield from rules.constants(CONSTANTS)
    yield Default("train.select_by", metric, "the task's first metric")
    model = plan.settings.model
    if plan.settings.init_from is None and not hasattr(plan.settings, GROUP):
        rate = rules.two_digits(SCRATCH_RATE / model.width)
        yield Default("train.learning_rate", rate, f"from scratch, width {model.width}")
