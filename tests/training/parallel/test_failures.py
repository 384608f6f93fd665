"""Processes that fail, vanish or hang: one of them says which."""

import os
import signal
import socket
import time
from datetime import timedelta

import pytest
import torch

from parallel_scenes import started
from regard.errors import RunError
from regard.processes import is_reporter
from regard.training.parallel.failures import Failures, is_lost

HOST = socket.gethostname()


def one_goes(team, out, how):
    """Sum again and again; the last process ends, hangs or reports an error after the first sum."""
    values = torch.ones(1)
    team.sum_values(values)
    if team.rank == team.size - 1:
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "hung":
            os.kill(os.getpid(), signal.SIGSTOP)
        raise RunError(f"rank {team.rank} has found a mistake.")
    while True:
        team.sum_values(values)


def outcomes(count, out, seconds=4, **changes):
    processes = started(count, "test_failures:reporting", out, seconds=seconds, **changes)
    began = time.monotonic()
    texts = [process.communicate(timeout=120)[0].decode() for process in processes[:-1]]
    elapsed = time.monotonic() - began
    processes[-1].kill()
    texts.append(processes[-1].communicate()[0].decode())
    return texts, elapsed


def reporting(out, seconds, how):
    """Print the error of this process if it is the one that reports it."""
    from regard.training.parallel.process_group import init_process_group

    try:
        with init_process_group(torch.device("cpu"), seconds) as team:
            one_goes(team, out, how)
    except RunError as error:
        os.write(1, (str(error) if is_reporter() else "").encode())
        os._exit(2)


@pytest.mark.parametrize(
    "how, expected",
    [
        ("killed", f"rank 2 on {HOST} was lost"),
        pytest.param("hung", f"rank 2 on {HOST} did not answer within 4 seconds", marks=pytest.mark.slow),
        ("wrong", "rank 2 has found a mistake."),
    ],
)
def test_one_process_reports_which_one_failed_and_all_end(how, expected, tmp_path):
    texts, elapsed = outcomes(3, tmp_path, how=how)
    reports = [text for text in texts if text.strip()]
    assert len(reports) == 1 and reports[0].startswith(expected)
    assert elapsed < 60


def test_a_port_in_use_is_refused(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setenv("RANK", "0")
        monkeypatch.setenv("WORLD_SIZE", "2")
        monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
        monkeypatch.setenv("MASTER_PORT", str(taken.getsockname()[1]))
        monkeypatch.delenv("TORCHELASTIC_USE_AGENT_STORE", raising=False)
        with pytest.raises(RunError, match="this port is in use; give another one with --master-port"):
            Failures.connect(timedelta(seconds=2))


def test_a_port_where_another_program_listens_holds_no_process_up(monkeypatch):
    """Nobody accepts or answers; a closed port refuses."""
    for listens in (True, False):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            if listens:
                taken.listen()
            for name, value in (("RANK", "1"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "127.0.0.1")):
                monkeypatch.setenv(name, value)
            monkeypatch.setenv("MASTER_PORT", str(taken.getsockname()[1]))
            began = time.monotonic()
            with pytest.raises(RunError, match=r"rank 1 on \S+ does not reach the store of rank 0"):
                Failures.connect(timedelta(seconds=2))
            assert time.monotonic() - began < 30


def test_errors_of_collectives_are_known_by_their_words():
    assert is_lost(RuntimeError("Connection closed by peer [127.0.0.1]:1")) and is_lost(ConnectionResetError())
    assert not is_lost(RuntimeError("shapes do not match"))
