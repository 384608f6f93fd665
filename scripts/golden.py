"""Print the golden numbers of every task as JSON, or compare them with those of another version.

python scripts/golden.py --write tests/golden/golden.json     # note them down
python scripts/golden.py --check before.json                  # to the bit, on the machine that wrote it
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from every_task import TASKS
from golden.numbers import golden


def main() -> int:
    """Train every task and write or compare its numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--check", type=Path)
    given = parser.parse_args()
    numbers = {}
    for task in TASKS:
        with tempfile.TemporaryDirectory() as folder:
            numbers[task] = golden(task, Path(folder))
    text = json.dumps(numbers, indent=1, ensure_ascii=False) + "\n"
    if given.write:
        given.write.write_text(text, encoding="utf-8")
    if given.check is None:
        return 0
    before, differs = json.loads(given.check.read_text(encoding="utf-8")), False
    for task, found in json.loads(text).items():
        odd = [name for name, value in found.items() if before[task][name] != value]
        sys.stdout.write(f"{task}: {'the same' if not odd else 'differs in ' + ', '.join(odd)}\n")
        differs |= bool(odd)
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
