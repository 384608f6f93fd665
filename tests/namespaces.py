"""Hosts that are network namespaces, joined by a pair of virtual interfaces whose link can be taken down."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOSTS = ("a", "b")


def missing() -> str:
    """Return why no namespaces can be made here; empty where they can."""
    if shutil.which("ip") is None or os.geteuid():
        return "needs root and iproute2"
    name = f"regard{os.getpid() % 10_000}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode:
        return "network namespaces are not allowed here"
    ip("netns", "del", name)
    return ""


def ip(*words: object) -> None:
    """Run a command of iproute2."""
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)


@contextmanager
def joined() -> Iterator[list[str]]:
    """Yield the names of two namespaces; each has an interface of its name, 10.77.0.1 and 10.77.0.2."""
    names = [f"regard{os.getpid() % 10_000}{host}" for host in HOSTS]
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", names[0], "type", "veth", "peer", "name", names[1])
        for number, name in enumerate(names, 1):
            ip("link", "set", name, "netns", name)
            ip("-n", name, "addr", "add", f"10.77.0.{number}/24", "dev", name)
            ip("-n", name, "link", "set", name, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def set_link(name: str, state: str) -> None:
    """Set the link of a namespace `up` or `down`."""
    ip("-n", name, "link", "set", name, state)


def node(number: int, name: str, out: Path, *words: object) -> subprocess.Popen[str]:
    """Start torchrun in a namespace, under a host name of its own."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nnodes", 2, "--nproc-per-node", 1]
    torchrun += ["--rdzv-backend", "c10d", "--rdzv-id", "job", "--rdzv-endpoint", "10.77.0.1:29400"]
    torchrun += ["--local-addr", f"10.77.0.{number}", "--max-restarts", 3]
    torchrun += ["-m", "regard", "train", *words, "--out", out]
    hosts = out.with_name("hosts")
    hosts.write_text("127.0.0.1 localhost\n10.77.0.1 node1\n10.77.0.2 node2\n")
    inside = f'hostname node{number} && mount --bind {hosts} /etc/hosts && exec "$@"'
    apart = ["ip", "netns", "exec", name, "unshare", "--uts", "--mount", "sh", "-c", inside, "sh"]
    environment = os.environ | {"GLOO_SOCKET_IFNAME": name, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*apart, *map(str, torchrun)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
