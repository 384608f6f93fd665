"""The quickstart from several seeds: time from the command to the last score, and BLEU on every split.

python benchmarks/quickstart.py --seeds 1 2 3
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    rows = []
    for seed in parser.parse_args().seeds:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "run"
            words = ["train", "translate-miniature", "--out", str(out), "--seed", str(seed), "--quiet"]
            started = time.perf_counter()
            subprocess.run([sys.executable, "-m", "regard", *words], check=True, stdout=subprocess.DEVNULL)
            elapsed = time.perf_counter() - started
            record = json.loads((out / "run.json").read_text(encoding="utf-8"))
        bleu = {name: round(score["scores"][0]["value"], 2) for name, score in record["scores"].items()}
        signature = record["scores"]["test"]["scores"][0]["signature"]
        rows.append({"seed": seed, "seconds": round(elapsed), "training_seconds": record["seconds"], "bleu": bleu})
        print(json.dumps(rows[-1]), flush=True)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, torch {record['machine']['torch']}"
    print(json.dumps({"signature": signature, "machine": machine}, indent=2))


if __name__ == "__main__":
    main()
