"""A cluster plan in words: a table of strategies, the reasons, the command, and the formulas."""

import json
import shlex
from collections.abc import Mapping

from regard.progress import duration, size_words
from regard.runs.planning.cluster import FORMULAS, ClusterPlan, Estimate

HEADER = (
    "strategy",
    "memory a device",
    "states",
    "activations",
    "sent an update",
    "step",
    "tokens/s",
    "efficiency",
    "time",
)


def cluster_values(plan: ClusterPlan) -> dict[str, object]:
    """Return a cluster plan as plain values."""
    chosen = plan.chosen
    return {
        "nodes": plan.nodes,
        "gpus": plan.gpus,
        "device": vars(plan.device),
        "device_tokens_per_second": plan.tokens_per_second,
        "measured": plan.measured,
        "operations_per_token": plan.operations_per_token,
        "utilization": plan.utilization,
        "tokens": plan.tokens,
        "strategies": [
            vars(each) | {"memory": vars(each.memory) | {"total": each.memory.total}, "words": list(each.words)}
            for each in plan.estimates
        ],
        "recommended": chosen and chosen.strategy,
        "formulas": list(FORMULAS),
    }


def strategy_rows(plan: ClusterPlan) -> list[tuple[str, ...]]:
    """Return a row for each strategy, under `HEADER`."""
    return [_row(each) for each in plan.estimates]


def _row(each: Estimate) -> tuple[str, ...]:
    memory = each.memory
    return (
        each.strategy if each.ways == 1 else f"{each.strategy} over {each.ways}",
        _gib(memory.total) + ("" if each.fits else " (too much)"),
        _gib(memory.states),
        _gib(memory.activations),
        size_words(each.wire),
        f"{1000 * each.step:,.1f} ms",
        f"{each.tokens_per_second:,.0f}",
        f"{100 * each.efficiency:.0f} %",
        _time(each.seconds),
    )


def _gib(size: float) -> str:
    return f"{size / 2**30:,.2f} GiB"


def _time(seconds: float) -> str:
    days = seconds / 86400
    return f"{days:,.1f} days" if days >= 2 else duration(seconds)


def cluster_lines(plan: ClusterPlan | None, recipe: str, words: list[str]) -> list[str]:
    """Return the lines under the table: the speed of one device, the choice, the command, the formulas."""
    if plan is None:
        return []
    device, share = plan.device, plan.utilization
    devices = (
        f"{plan.nodes * plan.gpus:,} x {device.name}"
        if plan.nodes == 1
        else (f"{plan.nodes:,} nodes x {plan.gpus} {device.name}")
    )
    peak = "" if share is None else f", {100 * share:.0f} % of its peak in bf16"
    lines = [
        f"{devices}, {_gib(device.memory)} each; {device.within / 1e9:g} GB/s within a node, "
        f"{device.between / 1e9:g} GB/s a device between nodes, overlap {device.overlap:g}.",
        f"One device: {plan.tokens_per_second:,.0f} tokens/s{peak} ({plan.measured}); "
        f"{plan.operations_per_token / 1e6:,.0f} million operations a token.",
        f"Time is that of {plan.tokens:.3g} tokens, {plan.tokens_per_update:,} an update, without validation.",
    ]
    if (chosen := plan.chosen) is None:
        return [*lines, way_out(plan), "", "Formulas:", *FORMULAS]
    return [
        *lines,
        *_advice(plan, chosen),
        f"Recommended: {chosen.strategy}.",
        command(plan, chosen, recipe, words),
        "",
        "Formulas:",
        *FORMULAS,
    ]


def _advice(plan: ClusterPlan, chosen: Estimate) -> list[str]:
    """Return what would use the devices better, if they wait for each other or for their kernels to start."""
    if chosen.efficiency >= 0.8 or len(plan.estimates) == 1:
        return []
    each = plan.tokens_per_update / (plan.nodes * plan.gpus)
    return [
        f"Only {100 * chosen.efficiency:.0f} % of the devices' speed is used: an update has {each:,.0f} tokens for "
        f"each; larger updates (train.tokens_per_update) or fewer devices use more of it."
    ]


def way_out(plan: ClusterPlan) -> str:
    """Return what to do where no strategy fits."""
    least = min(plan.estimates, key=lambda each: each.memory.total)
    return (
        f"No strategy fits: {least.strategy} takes {_gib(least.memory.total)} of {_gib(plan.device.memory)}; use "
        f"train.activation_checkpointing=true, a smaller train.micro_batch_tokens, more devices or a smaller model."
    )


def given_words(overrides: Mapping[str, object]) -> list[str]:
    """Return overrides by dotted name as words of a command line, quoted for a shell."""
    plain = {name: value if isinstance(value, str) else json.dumps(value) for name, value in overrides.items()}
    return [shlex.quote(f"{name}={value}") for name, value in plain.items()]


def command(plan: ClusterPlan, chosen: Estimate, recipe: str, words: list[str]) -> str:
    """Return the command that starts the run."""
    run = ["train", recipe, *words]
    if plan.nodes * plan.gpus == 1:
        return " ".join(["regard", *run])
    if plan.nodes == 1:
        return " ".join(["regard", *run, *chosen.words, "--processes", str(plan.gpus)])
    start = f"torchrun --nnodes {plan.nodes} --nproc-per-node {plan.gpus} --max-restarts 3 --rdzv-backend c10d"
    return " ".join([start, "--rdzv-id JOB --rdzv-endpoint HOST:29500 -m regard", *run, *chosen.words])
