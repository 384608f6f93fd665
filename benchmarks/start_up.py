"""Start-up time: the bare interpreter, `import regard` and `regard --help`, taking turns.

python benchmarks/start_up.py
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import regard": [sys.executable, "-c", "import regard"],
    "regard --help": [sys.executable, "-m", "regard", "--help"],
}


def main() -> None:
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(15):
        for name, command in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - started)
    result = {name: round(statistics.median(each), 3) for name, each in seconds.items()}
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(json.dumps({"median_seconds": result, "machine": machine}, indent=2))


if __name__ == "__main__":
    main()
