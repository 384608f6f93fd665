"""Runs of every task that are killed end as those that are left alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "kills.py"


@pytest.mark.slow
def test_ten_kills_over_all_tasks_change_nothing():
    done = subprocess.run([sys.executable, SCRIPT, "--kills", "10", "--seed", "5"], capture_output=True, text=True)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (results, done.stderr)
    assert len(results) == 10 and sum(result["kills"] for result in results) == 10
    assert all(result["difference"] == 0.0 for result in results)
