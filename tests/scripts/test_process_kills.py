"""A run of several processes whose workers are killed ends as one that is left alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "process_kills.py"


@pytest.mark.slow
def test_two_kills_of_workers_change_nothing():
    done = subprocess.run([sys.executable, SCRIPT, "--kills", "2", "--seed", "3"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert result["kills"] == 2 and result["difference"] == 0.0
