"""How much memory there is, and how much was taken."""

import sys
from pathlib import Path

import torch

LIMITS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)
"""Where Linux says what a container may take, and what it has taken: the newer way and the older one."""


def peak(device: torch.device) -> int | None:
    """Return the most bytes this process has had so far on a device; None where that is not told."""
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


def within_reach(device: torch.device) -> int | None:
    """Return the bytes this process could have in all on a device: what it has and what is free."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free + torch.cuda.memory_reserved(device))
    has, free_here = _status("/proc/self/status", "VmRSS"), _status("/proc/meminfo", "MemAvailable")
    if device.type != "cpu" or has is None or free_here is None:
        return None
    return has + min([free_here, *_free_in_container()])


def _free_in_container() -> list[int]:
    found = []
    for folder, *names in LIMITS:
        limit, taken = (_number(f"{folder}/{name}") for name in names)
        if limit is not None and taken is not None:
            # Cached files count as taken, but are given back as soon as somebody wants the memory.
            cached = sum(_status(f"{folder}/memory.stat", name, 1) or 0 for name in ("active_file", "inactive_file"))
            found.append(max(0, limit - taken + cached))
    return found


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


def gigabytes(size: float) -> str:
    """Return a size as people say it."""
    return f"{size / 2**30:.2f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"
