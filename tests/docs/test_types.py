"""The Python of the README type-checks, as an editor shows it."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_readme_type_checks_and_a_mistake_in_it_would_not(tmp_path):
    code = "\n".join(BLOCK.findall((ROOT / "README.md").read_text()))
    wrong = '\nregard.load("runs/a", task="classify")("text").translation\n'
    (tmp_path / "readme.py").write_text(code + wrong)
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(tmp_path / "readme.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    errors = [line for line in done.stdout.splitlines() if " error: " in line]
    assert len(errors) == 1 and '"Classification" has no attribute "translation"' in errors[0], done.stdout
