import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import server_process
from served_models import write_generator, write_translator

TESTS = Path(__file__).parents[1]
STARTED: list[subprocess.Popen] = []
"""Kept, so that nobody asks for their exit codes."""


@pytest.fixture(scope="session")
def translator(made_once):
    """The folder of an untrained translator."""
    return made_once("served-translator", write_translator)


@pytest.fixture(scope="session")
def generator(made_once):
    """The folder of an untrained language model that never ends by itself."""
    return made_once("served-generator", write_generator)


@pytest.fixture(scope="session")
def models(made_once):
    """The folder with an untrained model of every kind."""
    return made_once("served-models", server_process.write_models)


@pytest.fixture(scope="session")
def url(models, made_once):
    """The address of a server process that all processes of the tests share; it ends when they do."""

    def start(folder):
        # The process that every other one of these tests descends from.
        owner = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
        words = [sys.executable, str(TESTS / "server_process.py"), str(models), str(owner), "--log", "json"]
        paths = os.pathsep.join([str(TESTS), *sys.path])
        STARTED.append(subprocess.Popen(words, start_new_session=True, env=os.environ | {"PYTHONPATH": paths}))
        STARTED[-1].returncode = 0  # it outlives this process: nobody waits for it
        end = time.monotonic() + 90
        while not models.with_suffix(".url").exists():
            assert time.monotonic() < end, "the server does not start"
            time.sleep(0.1)

    made_once("shared-server", start)
    return models.with_suffix(".url").read_text()
