"""Code that launches kernels of our own, run in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

needs_kernels = pytest.mark.skipif(
    find_spec("triton") is None, reason="needs triton, which comes with torch for CUDA"
)


def complaint(code: str) -> str:
    """Return why code fails, "" if it runs: on a CUDA device, or interpreted where the compiler is without one."""
    interpreted = {} if torch.cuda.is_available() else {"TRITON_INTERPRET": "1"}
    paths = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])}
    environment = os.environ | paths | interpreted
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    return done.stderr or f"exit code {done.returncode}" if done.returncode else ""


def failure(check: Callable[[], None]) -> str:
    """Return why a function of a test file fails in a process of its own, "" if it does not."""
    file = Path(check.__code__.co_filename)
    name = check.__name__
    return complaint(
        f"import sys; sys.path.insert(0, {str(file.parent)!r}); from {file.stem} import {name}; {name}()"
    )
