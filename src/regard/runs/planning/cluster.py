"""The plan of a run on many devices: memory, bytes on the wire and time under each strategy, by stated formulas."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from regard.runs.planning.devices import Device
from regard.runs.planning.settings import ClusterSettings
from regard.runs.planning.workload import PAIRED, WIDE, Workload
from regard.training.device.machine import MICRO_BATCH_TOKENS
from regard.training.settings import TrainSettings

Strategy = Literal["replicate", "shard", "hybrid", "tensor-parallel"]

FULL = 0.92
"""The largest fraction of a device's memory that a plan fills: allocators leave gaps."""
LATENCY = 10e-6
"""Seconds of one step of an exchange, of which a tree of n processes takes log2 n, there and back."""
BUCKET = 25 * 2**20
"""Bytes of gradients that DDP sums at once."""
BACKWARD = 2 / 3
"""Fraction of a pass that is its backward part, beside which DDP sums gradients."""

FORMULAS = (
    "compute = tokens of a device / tokens per second of one device; on a GPU at least 3.4 ms a block and pass",
    "replicate sends 2 (n-1)/n × 4 bytes × parameters: a ring all-reduce, once an update",
    "shard sends (n-1)/n × 4 bytes × parameters three times a pass: to gather them forward and backward (what is "
    "outside of blocks once), and to scatter gradients",
    "hybrid is shard over the g devices of a node, and 2 (N-1)/N × 4 bytes × parameters / g between N nodes",
    "tensor-parallel over t sums the states 4 times a block, 2 (t-1)/t × their bytes each; then replicate of 1/t",
    "wire = bytes / bandwidth + 2 log2(n) × 10 µs a collective; a group over nodes has min(within, g × between)",
    "step = compute + wire - overlap × min(wire, compute beside it); replicate has one backward pass beside it",
)


@dataclass(frozen=True)
class DeviceMemory:
    """Bytes of one device."""

    states: float
    """Weights, gradients, moments of the optimizer, and the average."""
    gathered: float
    """Weights that are gathered, with their gradients, and copies of weights in half precision."""
    activations: float
    logits: float

    @property
    def total(self) -> float:
        """All of them."""
        return self.states + self.gathered + self.activations + self.logits


@dataclass(frozen=True)
class Estimate:
    """A strategy for all devices."""

    strategy: Strategy
    ways: int
    """Processes that hold one copy of the model together."""
    memory: DeviceMemory
    fits: bool
    wire: float
    """Bytes that one device sends in an update."""
    passes: int
    """Micro-batches of one device in an update."""
    compute: float
    """Seconds of computation in an update."""
    step: float
    """Seconds of an update."""
    tokens_per_second: float
    """Of all devices."""
    efficiency: float
    """Tokens per second over those of as many devices that train alone."""
    seconds: float
    """Of the token budget."""
    words: tuple[str, ...]
    """Settings of the run, for the command line."""


@dataclass(frozen=True)
class ClusterPlan:
    """Strategies of a run on nodes of several devices."""

    nodes: int
    gpus: int
    device: Device
    tokens_per_second: float
    """Of one device that trains alone."""
    measured: str
    """Where this speed comes from."""
    operations_per_token: float
    tokens_per_update: int
    tokens: float
    """The token budget."""
    estimates: tuple[Estimate, ...]

    @property
    def chosen(self) -> Estimate | None:
        """The fastest strategy that fits and can be set, the simplest of those within 1 %; None: none fits."""
        able = [each for each in self.estimates if each.fits and is_available(each.strategy)]
        best = min((each.step for each in able), default=0.0)
        return next((each for each in able if each.step <= 1.01 * best), None)

    @property
    def utilization(self) -> float | None:
        """The fraction of the peak that one device reaches alone."""
        peak = self.device.peak
        return None if peak is None else self.tokens_per_second * self.operations_per_token / peak


class Planner:
    """Estimates of one model on one cluster."""

    def __init__(
        self,
        load: Workload,
        device: Device,
        cluster: ClusterSettings,
        train: TrainSettings,
        speed: float,
        product: int,
    ) -> None:
        self.load, self.device, self.cluster, self.train = load, device.changed(cluster), cluster, train
        self.speed, self.product = speed, product
        self.all = cluster.nodes * cluster.gpus
        self.sides = 2 if load.kind in PAIRED else 1
        self.limit = train.micro_batch_tokens or MICRO_BATCH_TOKENS.get(device.type, 8192)

    def estimates(self, tokens: float) -> Iterator[Estimate]:
        """Yield an estimate for each strategy that differs from those before it."""
        nodes, gpus = self.cluster.nodes, self.cluster.gpus
        yield self._estimate("replicate", 1, tokens)
        if self.all > 1:
            yield self._estimate("shard", self.all, tokens)
        if nodes > 1 and gpus > 1:
            yield self._estimate("hybrid", gpus, tokens)
        ways = next((t for t in range(gpus, 1, -1) if gpus % t == 0 and self.load.heads % t == 0), 1)
        if ways > 1 and self.load.blocks:
            yield self._estimate("tensor-parallel", ways, tokens)

    def _estimate(self, strategy: Strategy, ways: int, tokens: float) -> Estimate:
        data_ways = self.all // ways if strategy == "tensor-parallel" else self.all
        shared = self.all // data_ways  # processes that compute one pass together
        own = self.train.tokens_per_update / data_ways
        passes = max(1, math.ceil(own * self.sides / self.limit))
        compute = own / self.speed / shared
        if self.all > 1:
            compute = max(compute, passes * len(self.load.blocks) * self.device.launch)
        wire, seconds, beside = self._wire(strategy, ways, own, passes, compute)
        step = compute + seconds - self.device.overlap * min(seconds, beside)
        speed = self.train.tokens_per_update / step
        memory = self._memory(strategy, ways, own / passes)
        return Estimate(
            strategy,
            ways,
            memory,
            memory.total <= FULL * self.device.memory,
            wire,
            passes,
            compute,
            step,
            speed,
            speed / (self.speed * self.all),
            tokens / speed,
            setting_words(strategy, ways),
        )

    def _wire(
        self, strategy: Strategy, ways: int, own: float, passes: int, compute: float
    ) -> tuple[float, float, float]:
        """Return the bytes that a device sends in an update, their seconds, and the computation beside them."""
        load, nodes, gpus = self.load, self.cluster.nodes, self.cluster.gpus
        weights = WIDE * load.parameters
        if strategy == "replicate":
            wire = 2 * _ring(self.all) * weights
            seconds = self._seconds(wire, self.all, 2, math.ceil(weights / BUCKET))
            return wire, seconds, BACKWARD * compute / passes
        if strategy == "tensor-parallel":
            sums = 4 * passes * len(load.blocks)
            inner = sums * 2 * _ring(ways) * own / passes * load.width * self.product
            outer = 2 * _ring(self.all // ways) * weights / ways
            seconds = self._seconds(inner, ways, 2, sums)
            return inner + outer, seconds + self._between(outer, self.all // ways, ways), 0.0
        gathered = 2 * weights - WIDE * sum(map(math.prod, load.rest))
        inner = passes * _ring(ways) * (gathered + weights)
        seconds = self._seconds(inner, ways, 1, 3 * passes * (len(load.blocks) + 1))
        if strategy == "shard":
            return inner, seconds, compute
        outer = 2 * _ring(nodes) * passes * weights / gpus
        return inner + outer, seconds + self._between(outer, nodes, gpus), compute

    def _seconds(self, sent: float, group: int, rounds: int, collectives: int) -> float:
        """Return the seconds of exchanges in a group of consecutive devices."""
        if group == 1:
            return 0.0
        gpus = self.cluster.gpus
        within, between = self.device.within, self.device.between
        speed = within if group <= gpus else min(within, gpus * between) if gpus > 1 else between
        return sent / speed + collectives * rounds * math.log2(group) * LATENCY

    def _between(self, sent: float, group: int, apart: int) -> float:
        """Return the seconds of sums in a group whose members are so many devices apart."""
        if group == 1:
            return 0.0
        inside = self.cluster.nodes == 1
        return sent / (self.device.within if inside else self.device.between) + 2 * math.log2(group) * LATENCY

    def _memory(self, strategy: Strategy, ways: int, tokens: float) -> DeviceMemory:
        load, is_half = self.load, self.product < WIDE
        parted = ways if strategy == "tensor-parallel" else 1
        held = load.share(ways) if ways > 1 else load.parameters
        copies = self.product * load.parameters / parted if is_half else 0
        rest = sum(map(math.prod, load.rest))
        gathered = WIDE * (2 * rest + 5 * load.block) if strategy in ("shard", "hybrid") else 0
        return DeviceMemory(
            load.state * held,
            gathered + copies,
            load.activations(tokens, self.product, self.train.activation_checkpointing, parted),
            load.logits(tokens, self.product, self.device.memory, self.device.type == "cuda") / parted,
        )


def _ring(count: int) -> float:
    """Return (n-1)/n, the part of all data that each of n processes sends in one round of a ring."""
    return (count - 1) / count


def setting_words(strategy: Strategy, ways: int) -> tuple[str, ...]:
    """Return the settings of a strategy, as words of the command line."""
    if strategy == "tensor-parallel":
        return (f"train.tensor_parallel={ways}",)
    return (f"train.distributed={strategy}",)


def is_available(strategy: Strategy) -> bool:
    """Return True for a strategy that the training loop of this version has."""
    fields = TrainSettings.model_fields
    if strategy == "tensor-parallel":
        return "tensor_parallel" in fields
    return strategy in get_args(fields["distributed"].annotation)


class Speed(NamedTuple):
    """The speed of one device that trains alone."""

    tokens_per_second: float
    source: str
    """Where it comes from."""


def plan_cluster(
    load: Workload, device: Device, cluster: ClusterSettings, train: TrainSettings, speed: Speed, product: int
) -> ClusterPlan:
    """Return the strategies of a run; `product`: bytes of a number in products."""
    tokens = float(train.tokens_per_update) * train.steps if cluster.tokens == "steps" else cluster.tokens
    planner = Planner(load, device, cluster, train, speed.tokens_per_second, product)
    return ClusterPlan(
        cluster.nodes,
        cluster.gpus,
        planner.device,
        *speed,
        load.operations,
        train.tokens_per_update,
        tokens,
        tuple(planner.estimates(tokens)),
    )
