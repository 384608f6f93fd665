"""Schemathesis over all routes: `python scripts/schemathesis_all.py http://127.0.0.1:8000 --examples 200`.

All phases, positive and negative data, all checks. Whether a body that fits the schema is answered may depend on the
model too (its limits, its languages), so 400, 404, 422 and 503 are answers to it; 500 never is.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIG = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 405, 413, 422, 429, 503]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 503]
missing_required_header.enabled = false
"""


def main() -> int:
    """Run schemathesis and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--examples", type=int, default=200, help="examples an operation")
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--include", default=None, help="regular expression of the paths")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "schemathesis.toml"
        config.write_text(CONFIG)
        words = ["--config-file", str(config), "run", f"{given.url}/openapi.json", "--phases", given.phases]
        words += ["--max-examples", str(given.examples), "--mode", "all", "--checks", "all", "--no-color"]
        words += ["--workers", str(given.workers), "--seed", "1", "--max-failures", "40", "--request-timeout", "60"]
        words += ["--include-path-regex", given.include] if given.include else []
        return subprocess.run([Path(sys.executable).parent / "schemathesis", *words], cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
