"""Memory that packed products keep: `python benchmarks/product_memory.py`, on Linux.

oneDNN generates code for each number of rows and keeps it. One process multiplies 1 to 400 rows by four matrices as
`regard` does, another by oneDNN's operator itself; each prints the megabytes by which it grew, twice.
"""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import torch

from regard.nn.inference.prepacked import _pack
from regard.nn.layers.linear import _multiply_packed, product

SHAPES = ((384, 128), (128, 128), (512, 128), (128, 512))


def megabytes() -> int:
    """Return the anonymous memory of this process."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", status)[1]) // 1024  # type: ignore[index]


def grow(is_padded: bool) -> list[int]:
    """Return the megabytes that all products have added, after each of two rounds."""
    torch.set_num_threads(1)
    weights = [torch.randn(shape) for shape in SHAPES]
    packed = [_pack(weight) for weight in weights]
    before, grown, chance = megabytes(), [], random.Random(1)
    with torch.inference_mode():
        for _ in range(2):
            for rows in chance.sample(range(1, 401), 400):
                for weight, own in zip(weights, packed, strict=True):
                    x = torch.randn(rows, weight.size(1))
                    if is_padded:
                        product(x, weight, None, own)
                    else:
                        _multiply_packed()(x, own, None, "none", [], "")
            grown.append(megabytes() - before)
    return grown


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(grow(sys.argv[1] == "product")))
    else:
        for side in ("operator", "product"):
            found = subprocess.run([sys.executable, __file__, side], stdout=subprocess.PIPE, text=True, check=True)
            print(side, *json.loads(found.stdout), "MB")
