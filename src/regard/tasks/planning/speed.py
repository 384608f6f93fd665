"""The updates and tokens that a device trains on in a time, about."""

from regard.tasks.planning.inputs import PlanInput

GPU_FLOPS, CPU_FLOPS, CORE_POWER = 2e14, 8e10, 0.75
"""Arithmetic of training in a second: of a GPU, of one core of a CPU, and the power of the cores it grows with."""
SHORTEST_UPDATE = 0.01
"""Seconds of the shortest update on a GPU."""


def flops(plan: PlanInput) -> float:
    """Return the operations of training that a device computes in a second."""
    return GPU_FLOPS if plan.is_gpu else CPU_FLOPS * plan.cores**CORE_POWER


def tokens_within(plan: PlanInput, seconds: float) -> float:
    """Return the tokens that a model is trained on in a time."""
    return seconds * flops(plan) / (6 * max(1, plan.parameters))


def updates_within(plan: PlanInput, seconds: float, tokens_per_update: int) -> int:
    """Return the updates that a device takes in a time, at least ten."""
    shortest = SHORTEST_UPDATE if plan.is_gpu else 0.0
    return max(10, round(seconds / max(shortest, seconds * tokens_per_update / tokens_within(plan, seconds))))
