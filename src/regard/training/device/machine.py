"""The machine of a run: device, threads, precision, determinism."""

import ctypes
import os
import platform
import re
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch

from regard.errors import ConfigError
from regard.training.settings import MachineSettings

MICRO_BATCH_TOKENS = {"cpu": 8192, "mps": 16384, "cuda": 65536}

MOST_THREADS = 256
"""Maximum number of threads on any machine; libraries crash where a system cannot start more."""

BF16_PROBE = "import torch; x = torch.ones(64, 64, dtype=torch.bfloat16); (x @ x).sum().item()"


@dataclass(frozen=True)
class Machine:
    """A prepared device, and the arithmetic to use on it."""

    device: torch.device
    precision: str
    has_graphs: bool = False
    """True if steps are captured as CUDA graphs."""
    compile: bool = False
    """True if blocks are compiled for training."""
    bf16_residual: bool = False
    """True if the residual stream has the precision of products."""

    @property
    def micro_batch_tokens(self) -> int:
        """Default size of a micro-batch in padded tokens."""
        return MICRO_BATCH_TOKENS.get(self.device.type, 8192)

    @property
    def memory(self) -> int:
        """Total memory of the device in bytes."""
        if self.device.type == "cuda":
            return torch.cuda.get_device_properties(self.device).total_memory
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else sys.maxsize

    def autocast(self) -> AbstractContextManager[object]:
        """Return the context under which forward passes run."""
        if self.precision == "bf16":
            return torch.autocast(self.device.type, torch.bfloat16)
        return nullcontext()

    def describe(self) -> dict[str, str | int]:
        """Return the facts that a repetition of the run should share."""
        name = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else processor_name()
        return {
            "device": str(self.device),
            "processor": name,
            "threads": torch.get_num_threads(),
            "precision": self.precision,
            "torch": torch.__version__,
            "python": platform.python_version(),
        }


def processor_name() -> str:
    """Return the CPU's model name as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def use_threads(count: int | None) -> None:
    """Set the number of torch's CPU threads; None: torch's default."""
    most = max(MOST_THREADS, 4 * (os.cpu_count() or 1))
    if count is not None and not 1 <= count <= most:
        raise ConfigError(f"machine.threads: {count} is out of range; give 1 to {most}, or omit it (one a core).")
    if count is not None:
        torch.set_num_threads(count)


def prepare_machine(settings: MachineSettings) -> Machine:
    """Set threads and determinism for this process and return the device."""
    device = choose_device(settings.device)
    use_threads(settings.threads)
    if settings.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    if torch.are_deterministic_algorithms_enabled() != settings.deterministic:  # the setter imports half of torch
        torch.use_deterministic_algorithms(settings.deterministic)
    if device.type == "cuda":
        torch.cuda.set_device(device.index or 0)
        # cuDNN prepares a plan for every new shape, half a second each; batches of text have many shapes.
        torch.backends.cuda.enable_cudnn_sdp(False)
    keep_freed_memory()
    has_graphs = settings.cuda_graphs and device.type == "cuda"
    if settings.compile and device.type != "cuda":
        raise ConfigError(f"machine.compile: applies to CUDA devices only, and this is {device}; omit it.")
    precision = choose_precision(settings.precision, device)
    if settings.bf16_residual and precision == "fp32":
        raise ConfigError("machine.bf16_residual: applies to bf16 only, and the precision is fp32; omit it.")
    return Machine(device, precision, has_graphs, settings.compile, settings.bf16_residual)


def choose_device(name: str) -> torch.device:
    """Return the device of that name, or the best there is for `auto`."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    if name == "cuda" and "LOCAL_RANK" in os.environ:  # started by torchrun: a device for each process
        name = f"cuda:{os.environ['LOCAL_RANK']}"
    kind, _, number = name.partition(":")
    if not re.fullmatch(r"(cpu|cuda|mps)(:[0-9]{1,3})?", name):
        raise ConfigError(f'machine.device: "{name}" is not one of auto, cpu, cuda, cuda:N, mps.')
    if kind == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f'machine.device: "{name}" is not available: torch finds no CUDA device; use cpu.')
    if kind == "cuda" and number and int(number) >= torch.cuda.device_count():
        raise ConfigError(
            f'machine.device: "{name}" is not available: torch finds {torch.cuda.device_count()} CUDA devices.'
        )
    if kind == "mps" and not torch.backends.mps.is_available():
        raise ConfigError('machine.device: "mps" is not available: there is no Apple GPU; use cpu.')
    return torch.device(name)


def choose_precision(name: str, device: torch.device) -> str:
    """Return fp32 or bf16; bf16 on a CPU is tried in a child process first, since some processors crash."""
    if name == "auto":
        return "bf16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "fp32"
    if name == "bf16" and device.type == "cpu":
        probe = subprocess.run([sys.executable, "-c", BF16_PROBE], capture_output=True)
        if probe.returncode != 0:
            raise ConfigError(
                "machine.precision: bf16 products crash this processor (tried in a child process); use fp32."
            )
    return name


def keep_freed_memory() -> None:
    """Make glibc keep large freed blocks: returning and faulting them in again takes a fifth of a step."""
    if sys.platform != "linux":
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return
    trim_threshold, mmap_threshold = -1, -3
    mallopt(mmap_threshold, 1 << 30)
    mallopt(trim_threshold, (1 << 31) - 1)
