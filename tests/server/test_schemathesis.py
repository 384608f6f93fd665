"""Every route under schemathesis: examples made of the schema, and of what it forbids, in all phases."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "schemathesis_all.py"


def test_every_route_keeps_to_its_schema_whatever_is_sent(url):
    done = subprocess.run(
        [sys.executable, SCRIPT, url, "--examples", "2", "--phases", "coverage,fuzzing"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
