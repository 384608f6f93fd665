"""Runs with something wrong in their folder, and the verbs that take them."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from mistakes.table import OWN_TASK, VERBS_OF_RUNS, Mistake

RUN = "damaged"

Damage = Callable[[Path], None]


def _checkpoints(run: Path) -> list[Path]:
    return [path.parent for path in sorted(run.rglob("manifest.json"))]


def _written(name: str, content: bytes) -> Damage:
    def damage(run: Path) -> None:
        for folder in _checkpoints(run):
            for file in folder.glob(name):
                file.write_bytes(content)

    return damage


def _gone(name: str) -> Damage:
    def damage(run: Path) -> None:
        for folder in _checkpoints(run):
            for file in folder.glob(name):
                file.unlink()

    return damage


def _truncated(run: Path) -> None:
    for folder in _checkpoints(run):
        (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-20])


def _newer(run: Path) -> None:
    for folder in _checkpoints(run):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"format": 99}))


def _not_there(run: Path) -> None:
    shutil.rmtree(run)


def _a_file(run: Path) -> None:
    shutil.rmtree(run)
    run.write_text("a file\n")


def _emptied(run: Path) -> None:
    shutil.rmtree(run)
    run.mkdir()


def _without_checkpoints(run: Path) -> None:
    shutil.rmtree(run / "checkpoints")


def _index(content: str) -> Damage:
    return lambda run: (run / "checkpoints" / "index.json").write_text(content) and None


def _record(content: str) -> Damage:
    return lambda run: (run / "run.json").write_text(content) and None


OF_ANY: dict[str, Damage] = {"not there": _not_there, "a file": _a_file, "an empty folder": _emptied}
OF_MODELS: dict[str, Damage] = {
    "without checkpoints": _without_checkpoints,
    "config is not json": _written("config.json", b"{"),
    "config is a list": _written("config.json", b"[]"),
    "config of a later format": _newer,
    "weights cut short": _truncated,
    "weights gone": _gone("model.safetensors"),
    "manifest gone": _gone("manifest.json"),
    "manifest is not json": _written("manifest.json", b"\xff"),
    "tokenizer damaged": _written("tokenizer*.json", b"{}"),
    "index is not json": _index("{"),
    "index is a list": _index("[]"),
    "index leads out": _index('{"latest": "../../x", "best": "../../x", "kept": {"../../x": 1.0}}'),
    "index of other types": _index('{"latest": 1, "best": [], "kept": {"a": "b"}}'),
}
OF_RECORDS: dict[str, Damage] = {
    "record is not json": _record("{"),
    "record is a list": _record("[]"),
    "record of other types": _record('{"format": 2, "state": 5, "task": [], "settings": 3, "sources": null}'),
}


def of_runs() -> Iterator[Mistake]:
    """Yield a row for each fault of a run and each verb that meets it."""
    models = [*OWN_TASK, "evaluate", "export", "convert", "average", "resume"]
    for verb, words in VERBS_OF_RUNS.items():
        faults = OF_ANY | (OF_MODELS if verb in models else {})
        faults |= OF_RECORDS if verb in ("card", "resume", "delete") else {}
        task = OWN_TASK.get(verb, "translate")
        for name, damage in faults.items():
            if (verb, name) in HARMLESS:
                continue
            named = tuple(word.replace("{run}", RUN) for word in words)
            yield Mistake(f"{verb}: {name}", named, run=task, damage=damage)


HARMLESS = {
    ("resume", "without checkpoints"),  # it begins anew
    *(("neighbors", name) for name in ("a file",)),  # a file of word vectors may have any words
}
"""Faults that do not keep a verb from its work."""
