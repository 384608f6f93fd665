"""Folders that regard reads, as copies to be damaged, and what each kind of model is asked."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import regard

SENTENCE = "The small dog sleeps in the garden."
INPUTS: dict[str, Any] = {
    "translate": SENTENCE,
    "language-model": SENTENCE,
    "masked-language-model": "The [MASK] sleeps.",
    "elmo": SENTENCE,
    "vectors": "the",
    "classify": SENTENCE,
    "regress": (SENTENCE, "A cat."),
    "tag": SENTENCE,
    "answer": ("who sleeps ?", SENTENCE),
    "choose": ("The dog", ("sleeps", "sings")),
}
"""What a model of each task is asked."""


def predict(path: str | Path, task: str) -> Any:
    """Load a model and ask it something, as a user would."""
    model = regard.load(path, device="cpu")
    if task in ("masked-language-model", "elmo"):
        return model.embed([SENTENCE]) if hasattr(model, "embed") else model([SENTENCE])
    if task == "vectors":
        return model.neighbors("the")
    if task == "language-model":
        return model(INPUTS[task], max_new_tokens=3)
    return model([INPUTS[task]]) if callable(model) else model.embed([SENTENCE])


def copy_run(run: Path, folder: Path) -> Path:
    """Return a copy of a run that can be damaged; its weights are linked, as they are large."""
    target = folder / "run"
    shutil.copytree(run, target, symlinks=True)
    return target


def refresh_manifest(checkpoint: Path) -> None:
    """Write the hashes of a checkpoint anew, so that only what its files say is wrong."""
    manifest = checkpoint / "manifest.json"
    names = [str(path.relative_to(checkpoint)) for path in sorted(checkpoint.rglob("*")) if path.is_file()]
    entries = {
        name: {
            "bytes": (checkpoint / name).stat().st_size,
            "sha256": hashlib.sha256((checkpoint / name).read_bytes()).hexdigest(),
        }
        for name in names
        if name != manifest.name
    }
    manifest.write_text(json.dumps(entries))
