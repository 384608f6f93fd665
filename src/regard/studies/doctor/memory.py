"""Memory of a device: the peak of this process, and what is available to it."""

import sys
from pathlib import Path

import torch

LIMITS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)
"""Files of Linux with the memory limit and usage of a container: cgroup v2 and v1."""


def peak_bytes(device: torch.device) -> int | None:
    """Return the peak memory of this process on a device in bytes; None where it cannot be measured."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    if device.type != "cpu":
        return None
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def available_bytes(device: torch.device) -> int | None:
    """Return the memory available to this process on a device in bytes: its own and the free memory."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free + torch.cuda.memory_reserved(device))
    resident, unused = _status("/proc/self/status", "VmRSS"), _status("/proc/meminfo", "MemAvailable")
    if device.type != "cpu" or resident is None or unused is None:
        return None
    return resident + min([unused, *_free_in_container()])


def _free_in_container() -> list[int]:
    free = []
    for folder, *names in LIMITS:
        limit, used = (_number(f"{folder}/{name}") for name in names)
        if limit is not None and used is not None:
            # The page cache counts as used, but is freed on demand.
            cached = sum(_status(f"{folder}/memory.stat", name, 1) or 0 for name in ("active_file", "inactive_file"))
            free.append(max(0, limit - used + cached))
    return free


def _status(path: str, name: str, unit: int = 1024) -> int | None:
    """Return the number in a line such as `VmRSS: 12 kB`, in bytes."""
    try:
        lines = Path(path).read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    fields = (line.replace(":", " ").split() for line in lines)
    return next((int(words[1]) * unit for words in fields if words and words[0] == name), None)


def _number(path: str) -> int | None:
    try:
        text = Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def size_words(size: float) -> str:
    """Return a size in bytes as GiB or MiB."""
    return f"{size / 2**30:.2f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"
