"""The entry point imports the command line, and Ctrl-C may come while it does."""

import builtins
import subprocess
import sys

import pytest

from regard.__main__ import main
from regard.version import __version__


def test_ctrl_c_is_heard_while_the_command_line_loads(monkeypatch, capsys):
    load = builtins.__import__

    def interrupted(name, *others, **named):
        if name == "regard.cli.main":
            raise KeyboardInterrupt
        return load(name, *others, **named)

    monkeypatch.setattr(builtins, "__import__", interrupted)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130 and capsys.readouterr().err == "regard: stopped.\n"


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "regard", "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "") and __version__ in done.stdout
