"""Two hosts that lose their connection for a while: network namespaces joined by a pair of virtual interfaces."""

import os
import shutil
import subprocess
import sys
import time

import pytest
from safetensors.torch import load_file
from test_launch import TINY, begun, wait_for

HOSTS = ("a", "b")


def run(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


@pytest.fixture
def link():
    """Two namespaces whose names end in a and b; yields their names and that of the interface in each."""
    if shutil.which("ip") is None or os.geteuid():
        pytest.skip("needs root and iproute2")
    names = {host: f"regard{os.getpid() % 10_000}{host}" for host in HOSTS}
    try:
        for name in names.values():
            run("ip", "netns", "add", name)
    except subprocess.CalledProcessError:
        pytest.skip("network namespaces are not allowed here")
    try:
        run("ip", "link", "add", names["a"], "type", "veth", "peer", "name", names["b"])
        for number, name in enumerate(names.values(), 1):
            run("ip", "link", "set", name, "netns", name)
            run("ip", "-n", name, "addr", "add", f"10.77.0.{number}/24", "dev", name)
            run("ip", "-n", name, "link", "set", name, "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
        yield names
    finally:
        for name in names.values():
            run("ip", "netns", "del", name)


def node(number, name, out, *words):
    """Start torchrun in a namespace, under a host name of its own."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nnodes", 2, "--nproc-per-node", 1]
    torchrun += ["--rdzv-backend", "c10d", "--rdzv-id", "job", "--rdzv-endpoint", "10.77.0.1:29400"]
    torchrun += [
        "--local-addr",
        f"10.77.0.{number}",
        "--max-restarts",
        3,
        "-m",
        "regard",
        "train",
        *words,
        "--out",
        out,
    ]
    hosts = out.with_name("hosts")
    hosts.write_text("127.0.0.1 localhost\n10.77.0.1 node1\n10.77.0.2 node2\n")
    inside = f'hostname node{number} && mount --bind {hosts} /etc/hosts && exec "$@"'
    apart = ["ip", "netns", "exec", name, "unshare", "--uts", "--mount", "sh", "-c", inside, "sh"]
    command = [*apart, *map(str, torchrun)]
    environment = os.environ | {"GLOO_SOCKET_IFNAME": name, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


@pytest.mark.slow
def test_a_link_that_is_down_for_ten_seconds_changes_nothing_but_the_time(link, tmp_path):
    words = ["translate-miniature", *TINY, "train.steps=40"]
    out = tmp_path / "disturbed"
    nodes = [
        node(number, name, out, *words, "machine.process_timeout=5") for number, name in enumerate(link.values(), 1)
    ]
    wait_for(out, 7, nodes[0])
    run("ip", "-n", link["b"], "link", "set", link["b"], "down")
    time.sleep(10)
    run("ip", "-n", link["b"], "link", "set", link["b"], "up")
    texts = [each.communicate(timeout=280)[0] for each in nodes]
    assert [each.returncode for each in nodes] == [0, 0], "\n".join(texts)
    assert "rank 1 on node2 did not answer within 5 seconds" in "".join(texts)
    calm = begun(*words, "--processes", 2, "--out", tmp_path / "calm")
    calm.communicate(timeout=200)
    one, other = (load_file(each / "checkpoints/00000040/model.safetensors") for each in (out, tmp_path / "calm"))
    assert all(one[name].equal(other[name]) for name in one)
