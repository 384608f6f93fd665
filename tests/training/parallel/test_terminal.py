"""Several processes in a terminal: one speaks, Ctrl-C saves once and ends all, a second one ends them at once."""

import fcntl
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from launched import TINY, wait_for, workers

TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
LAUNCHERS = {"--processes": [sys.executable], "torchrun": [sys.executable, *TORCHRUN]}
WORDS = [
    "-m",
    "regard",
    "train",
    "translate-miniature",
    *TINY,
    "train.steps=100000",
    "train.save_every=50",
    "--threads",
    "1",
]


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, command: list[str]) -> None:
        self.control, other = pty.openpty()
        take = lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, preexec_fn=take)
        os.close(other)
        self.text = ""

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        os.write(self.control, b"\x03")

    def end(self, seconds: float) -> int:
        """Read what is shown until the command ends, and return its exit code."""
        until = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < until, self.text
            self.read()
        self.read()
        os.close(self.control)
        return self.process.returncode

    def read(self) -> None:
        """Take in what is shown by now."""
        while select.select([self.control], [], [], 0.1)[0]:
            try:
                data = os.read(self.control, 65536)
            except OSError:  # the last one that writes here has ended
                return
            if not data:
                return
            self.text += data.decode(errors="replace")


@pytest.mark.slow
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_ctrl_c_in_a_terminal_saves_once_and_a_second_one_ends_at_once(launcher, tmp_path):
    for presses in (1, 2):
        out = tmp_path / f"run-{presses}"
        more = ["--processes", "2"] if launcher == "--processes" else []
        terminal = Terminal([*LAUNCHERS[launcher], *WORDS, *more, "--out", str(out)])
        wait_for(out, 8, terminal.process)
        terminal.read()
        terminal.interrupt()
        began = time.monotonic()
        if presses == 2:
            time.sleep(0.05)
            terminal.interrupt()
        code = terminal.end(120)
        assert code == (130 if launcher == "--processes" else 1), terminal.text
        assert not workers(out)
        if presses == 1:
            assert terminal.text.count("everything is saved") == 1, terminal.text
            assert json.loads((out / "run.json").read_text())["state"] == "interrupted"
        else:
            assert time.monotonic() - began < 60
        assert terminal.text.count("2 processes on 1 host") == 1  # one of them speaks
        lines = [json.loads(line)["step"] for line in (out / "metrics.jsonl").read_text().splitlines()]
        assert lines == sorted(set(lines))
        assert Path(out / "checkpoints" / "index.json").exists() or presses == 2
