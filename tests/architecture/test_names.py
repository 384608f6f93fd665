"""No name in a file leads out of its folder: one function checks, and all kinds of files with names are walked."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import regard
from commands import bad, good
from fuzz.folders import refresh_manifest
from regard.data.corpus.manifest import MANIFEST, read_manifest
from regard.errors import RegardError
from regard.runs.run import Run
from regard.runs.scores.passport import read_passport

NAMES = ["../../victim", "../victim", "{absolute}", "a/../../../victim", "..\\..\\victim", "/dev/zero", "x\x00y"]


class Places:
    """A copy of a run, of what was made of it, and beside them a folder that nothing may touch."""

    def __init__(self, folder: Path, runs: Path) -> None:
        self.run = folder / "deep" / "run"
        shutil.copytree(runs / "translate", self.run)
        self.victim = folder / "victim"
        for place in (self.victim, folder / "deep" / "victim", self.run / "victim"):
            (place / "training").mkdir(parents=True)
            (place / "training" / "state.json").write_text("{}")
            (place / "config.json").write_text("{}")
            (place / "model.safetensors").write_bytes(b"secret")
        self.folder = folder

    def entries(self) -> dict[str, tuple[int, int]]:
        """Return all that lies outside of the run, with sizes and times."""
        found = {}
        for path in sorted(self.folder.rglob("victim/**/*")):
            found[str(path)] = (path.stat().st_size, path.stat().st_mtime_ns)
        return found


def changed(path: Path, change: Callable[[Any], Any]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


def of_index(places: Places, name: str) -> None:
    changed(places.run / "checkpoints" / "index.json", lambda index: index | {"kept": {name: 1.0} | index["kept"]})
    bad("train", "--resume", places.run, "train.steps=8", "-q")


def of_best(places: Places, name: str) -> None:
    changed(places.run / "checkpoints" / "index.json", lambda index: index | {"kept": {name: 99.0}, "best": name})
    bad("translate", places.run, "Ja.", "-q")


def of_manifest(places: Places, name: str) -> None:
    best = Run(places.run).best
    changed(best / "manifest.json", lambda files: files | {name: {"bytes": 6, "sha256": "0" * 64}})
    bad("translate", best, "Ja.", "-q")


def of_tokenizers(places: Places, name: str) -> None:
    best = Run(places.run).best
    changed(best / "config.json", lambda config: config | {"tokenizers": [name]})
    refresh_manifest(best)
    bad("translate", best, "Ja.", "-q")


def of_passport(places: Places, name: str) -> None:
    good("evaluate", places.run, "-q")
    path = next((places.run / "scores").glob("*.json"))
    changed(path, lambda facts: facts | {"outputs": facts["outputs"] | {"file": name}})
    with pytest.raises(RegardError):
        read_passport(path)


def of_weight_map(places: Places, name: str) -> None:
    folder = places.folder / "deep" / "hf"
    good("export", places.run, folder, "-q")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": name}}))
    with pytest.raises(RegardError):
        regard.load(f"hf:{folder}", device="cpu")


def of_shards(places: Places, name: str) -> None:
    folder = places.folder / "deep" / "corpus"
    folder.mkdir()
    entry = {
        "glance": [1],
        "sha256": "0",
        "limit": None,
        "spans": [[name, 0, 1]],
        "documents": 1,
        "is_complete": True,
    }
    book = {"tokenizer": "t", "reading": {}, "shards": {name: 6}, "inputs": {"a": entry}, "made": 1, "format": 2}
    (folder / MANIFEST).write_text(json.dumps(book))
    found = read_manifest(folder, "t", {})
    assert found.shards == {} and found.inputs == {}  # it is made anew
    found.sweep(folder)


KINDS = {
    "the index of checkpoints": of_index,
    "the best checkpoint": of_best,
    "the manifest of a checkpoint": of_manifest,
    "the tokenizers of a checkpoint": of_tokenizers,
    "the hypotheses of a passport": of_passport,
    "the weights of a Hugging Face folder": of_weight_map,
    "the shards of a corpus": of_shards,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_name_leads_out_of_its_folder(kind, name, tiny_runs, tmp_path):
    places = Places(tmp_path, tiny_runs)
    before = places.entries()
    KINDS[kind](places, name.replace("{absolute}", str(places.victim)))
    assert places.entries() == before


def test_a_link_in_the_place_of_a_checkpoint_is_not_followed_when_room_is_made(tiny_runs, tmp_path):
    places = Places(tmp_path, tiny_runs)
    store = Run(places.run).checkpoints
    (store.folder / "00000001").symlink_to(places.victim, target_is_directory=True)
    changed(store.folder / "index.json", lambda index: index | {"kept": {"00000001": -1e9} | index["kept"]})
    before = places.entries()
    regard.resume(places.run, {"train.steps": 8})
    assert places.entries() == before and places.victim.is_dir()
