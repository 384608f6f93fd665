"""A server process of its own for tests, as users start it; one may be shared by all processes that run the tests."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from encoder_folders import small_encoder_bundle
from head_bundles import head_bundle
from labeled import reviews
from regard.checkpoint.bundle import write_bundle
from regard.text.settings import MaskedTextSettings
from regard.text.training import train_tokenizer
from served_models import write_generator, write_translator


def write_models(folder: Path) -> None:
    """Write an untrained model of every kind that clients ask."""
    write_translator(folder / "de-en")
    write_generator(folder / "gpt")
    for task in ("classify", "tag", "answer", "regress", "choose"):
        write_bundle(folder / task, head_bundle(task))
    tokenizer = train_tokenizer([text for text, _ in reviews(30)], MaskedTextSettings(size=200, min_frequency=1))
    write_bundle(folder / "bert", small_encoder_bundle(tokenizer))


def started(folder: Path, *words: str, names: tuple[str, ...] | None = None) -> tuple[subprocess.Popen, str, Path]:
    """Start `regard serve` on the models in a folder, and return the process, its address and the file of its log."""
    runs = [str(folder / name) for name in names or sorted(each.name for each in folder.iterdir())]
    log = Path(tempfile.mkdtemp(prefix="regard-server-")) / "log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "regard", "serve", *runs, "--port", "0", "--device", "cpu", *words],
            stderr=file,
            start_new_session=True,
        )
    while (match := re.search(r"http://[\d.]+:\d+", log.read_text())) is None:
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    return process, match[0], log


@contextmanager
def serving(
    folder: Path, *words: str, names: tuple[str, ...] | None = None
) -> Iterator[tuple[str, subprocess.Popen]]:
    """A server of one's own, ready, and ended at last."""
    process, url, log = started(folder, *words, names=names)
    try:
        wait_until_ready(url)
        process.log = log
        yield url, process
    finally:
        process.kill()
        process.wait()


def wait_until_ready(url: str, seconds: float = 60) -> None:
    """Wait until a server is ready."""
    import httpx2

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if httpx2.get(f"{url}/ready", timeout=5).status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"{url} is not ready")


def main(folder: str, owner: str, words: list[str]) -> None:
    """Serve the models of a folder until the process that owns the tests ends; the address goes into a file."""
    process, url, _ = started(Path(folder), *words)
    wait_until_ready(url)
    Path(folder).with_suffix(".url.part").write_text(url)
    Path(folder).with_suffix(".url.part").rename(Path(folder).with_suffix(".url"))
    while process.poll() is None and _lives(int(owner)):
        time.sleep(0.5)
    process.kill()


def _lives(owner: int) -> bool:
    try:
        os.kill(owner, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
