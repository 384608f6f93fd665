"""Two hosts that lose their connection for a while: network namespaces joined by a pair of virtual interfaces."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from namespaces import missing

SCRIPT = Path(__file__).parents[3] / "scripts" / "link_down.py"


@pytest.mark.slow
def test_a_link_that_is_down_for_ten_seconds_changes_nothing_but_the_time():
    if reason := missing():
        pytest.skip(reason)
    done = subprocess.run([sys.executable, SCRIPT, "--timeout", "5"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert result["codes"] == [0, 0] and result["difference"] == 0.0
    assert "rank 1 on node2 did not answer within 5 seconds" in result["named"]
