"""Devices of plans: memory, peak and bandwidths from data sheets, speeds as measured."""

from dataclasses import dataclass, replace

from regard.models.base.family import Kind
from regard.runs.planning.settings import ClusterSettings
from regard.training.device.machine import Machine


@dataclass(frozen=True)
class Device:
    """A device of a plan, with its links."""

    name: str
    memory: int
    """Bytes."""
    peak: float | None
    """Dense products per second in bf16, counted as two operations each; None: not known, speeds are measured."""
    within: float
    """Bytes per second between two devices of a host, in each direction."""
    between: float
    """Bytes per second of one device to other hosts, in each direction."""
    overlap: float
    """Fraction of an exchange that runs beside computation."""
    type: str = "cuda"
    launch: float = 0.0
    """Seconds to start the kernels of one block and its gradients, the least that a pass takes for each block."""

    def changed(self, settings: ClusterSettings) -> "Device":
        """Return it with the links that a user gives."""
        links = {name: getattr(settings, name) for name in ("within", "between")}
        given = {name: value * 1e9 for name, value in links.items() if value is not None}
        return replace(self, **given, overlap=self.overlap if settings.overlap is None else settings.overlap)


LAUNCH = 3.4e-3
"""Seconds a block without CUDA graphs: 10 blocks took 34 ms on an H200 (benchmarks/RESULTS.md, "Training on an
H200")."""

DEVICES = {
    "h200": Device("h200", 139 * 2**30, 989e12, 360e9, 40e9, 0.8, launch=LAUNCH),
    "h100": Device("h100", 79 * 2**30, 989e12, 360e9, 40e9, 0.8, launch=LAUNCH),
    "a100": Device("a100", 79 * 2**30, 312e12, 240e9, 20e9, 0.8, launch=LAUNCH),
}
"""Links are four fifths of those in the data sheets: NVLink of 450 and 300 GB/s, one port of 400 and 200 Gbit/s a
device."""

SOCKET = 1e9
"""Bytes per second between processes of one host over gloo."""
ETHERNET = 0.1e9
"""Bytes per second over a link of one Gbit/s."""


@dataclass(frozen=True)
class Utilization:
    """The fraction of an H200's peak that training used, as measured."""

    plain: float
    compiled: float
    what: str
    """The model that was measured."""


MEASURED: dict[Kind, Utilization] = {
    "causal-lm": Utilization(0.397, 0.420, "GPT-2 with 124 M parameters in windows of 1,024 tokens"),
    "encoder": Utilization(0.261, 0.324, "BERT-base on pairs of 128 tokens"),
    "seq2seq": Utilization(0.199, 0.261, "Transformer-base on pairs of 48 tokens"),
}
"""From tokens per second in benchmarks/RESULTS.md ("GPT-2", "BERT", "Training on an H200") by the operations that
`Workload.operations` counts."""


def utilization(kind: Kind) -> Utilization:
    """Return the utilization measured for a kind of model; other kinds take that of translation, the lowest."""
    return MEASURED.get(kind, MEASURED["seq2seq"])


def this_device(machine: Machine, devices: int) -> Device:
    """Return the device of this machine; a CPU's memory is divided among the processes."""
    if machine.device.type == "cuda":
        return Device("this GPU", machine.memory, None, DEVICES["a100"].within, DEVICES["a100"].between, 0.8)
    return Device("this machine", machine.memory // devices, None, SOCKET, ETHERNET, 0.0, machine.device.type)
