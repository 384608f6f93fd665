"""Score passports: metrics with the hashes, settings and versions needed to repeat and compare them."""

import hashlib
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint.atomic import fingerprint, write_json
from regard.checkpoint.facts import TaskFacts
from regard.checkpoint.identity import checkpoint_path, model_hash
from regard.config.names import inside
from regard.config.records import check_record, read_json
from regard.data.sources.lines import lines_hash, read_lines
from regard.errors import DataError
from regard.progress import SILENT, Progress
from regard.runs.store.folder import RunFolder
from regard.tasks.evaluation import Evaluation, Values
from regard.tasks.record import PassportRecord
from regard.training.device.machine import Machine
from regard.version import __version__

FORMAT = 2
FOLDER = "scores"
LONGEST = 120
"""Maximum characters in the name of a passport's file."""
OUTPUTS = ".outputs.txt"
"""Ending of the file with its outputs, a line an example."""


@dataclass(frozen=True)
class Passport:
    """The scores of one system on one set."""

    origin: str
    """The name of the system in messages: the path of a run, of a passport or of a file of outputs."""
    facts: dict[str, Any]
    """The passport as plain JSON."""
    outputs: tuple[str, ...] = field(repr=False)

    @property
    def record(self) -> PassportRecord:
        """The passport, typed, whatever it was made from."""
        return PassportRecord.model_validate(
            {"passport": FORMAT, "outputs": {"file": "-", "sha256": ""}} | self.facts
        )

    @property
    def identity(self) -> list[Any]:
        """The difference between passports of one model: the set, by name and contents, and the decoding settings."""
        record = self.record
        return [record.set, record.test_set.model_dump(), record.decode]

    def write(self, path: Path) -> None:
        """Write the passport, and beside it its outputs."""
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.with_suffix(OUTPUTS)
        lines.write_text("".join(line + "\n" for line in self.outputs), encoding="utf-8", newline="\n")
        outputs = {"file": lines.name, "sha256": lines_hash(self.outputs)}
        write_json(path, {"passport": FORMAT} | self.facts | {"outputs": outputs})


def issue(evaluation: Evaluation, pipeline: Any, origin: str) -> Passport:
    """Return the passport of an evaluation; `origin` is the path of the model, empty for a pipeline alone."""
    values = evaluation.to_dict()
    facts = {
        "set": values.pop("name"),
        **values,
        "scores": [_with_casing(score) for score in values["scores"]],
        **_surroundings(pipeline, origin),
    }
    return Passport(origin or "this model", facts, evaluation.outputs)


def _surroundings(pipeline: Any, origin: str) -> dict[str, Any]:
    """Return the model, program and machine that outputs came from."""
    model, bundle = getattr(pipeline, "model", None), getattr(pipeline, "bundle", None)  # a table of vectors has none
    dtype = "float32" if model is None else str(next(model.parameters()).dtype).removeprefix("torch.")
    machine = Machine(getattr(pipeline, "device", torch.device("cpu")), dtype).describe()
    return {
        **({"checkpoint": _checkpoint(origin)} if origin else {}),
        "seed": None if bundle is None else TaskFacts.read(bundle).seed,
        "regard": __version__,
        "torch": machine["torch"],
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine,
    }


def _checkpoint(origin: str) -> dict[str, str]:
    if Path(origin).is_file():
        return {"path": origin, "sha256": fingerprint(Path(origin))["sha256"]}
    checkpoint = checkpoint_path(origin)
    return {"path": checkpoint, "sha256": model_hash(checkpoint)}


def _with_casing(score: Values) -> dict[str, Any]:
    """Return a score with its casing, where its signature has one."""
    signature = str(score["signature"])
    casing = {"casing": "lowercased" if "case:lc" in signature else "mixed"} if "case:" in signature else {}
    return dict(score) | casing


def read_passport(path: Path) -> Passport:
    """Read a passport and its outputs."""
    try:
        facts = _read(path)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no score passport here; check the path.") from None
    record = PassportRecord.model_validate(facts)
    lines = inside(path.parent, record.outputs.file, path, DataError)
    if not lines.is_file():
        raise DataError(f"{path}: its outputs ({lines.name}) are not beside it; copy them too, or evaluate again.")
    outputs = tuple(read_lines(lines))
    if lines_hash(outputs) != record.outputs.sha256:
        raise DataError(f"{lines}: changed since its passport was written; evaluate again.")
    return Passport(str(path), facts, outputs)


def _read(path: Path) -> dict[str, Any]:
    """Return a passport as plain JSON, checked, without its outputs."""
    what, way_out = "a score passport", "regard evaluate writes them"
    facts = read_json(path, DataError, what, way_out)
    written = facts.get("passport") if isinstance(facts, dict) else None
    if isinstance(written, int) and written > FORMAT:
        raise DataError(f"{path}: a passport in format {written}, but this version reads {FORMAT}; upgrade regard.")
    check_record(facts, path, PassportRecord, DataError, what, way_out)
    return dict(facts)


def passports_of(run: RunFolder) -> dict[str, dict[str, Any]]:
    """Return every passport in a run's folder as plain JSON by file name; other files are skipped."""
    passports = {}
    for path in sorted((run.path / FOLDER).glob("*.json")):
        try:
            passports[path.stem] = _read(path)
        except (DataError, OSError):
            continue
    return passports


def passport_path(folder: Path, passport: Passport, defaults: Values, is_of_run: bool = False) -> Path:
    """Return the file of a passport: the set's name, with the decoding settings that are not the defaults.

    A passport of another set, of other settings or of another model is never overwritten; a run's own passports are
    of whichever checkpoint is its best.
    """
    record = passport.record
    changed = [f"{name}={value}" for name, value in record.decode.items() if defaults.get(name) != value]
    files = " ".join(Path(word).name for word in re.split(r" and |, ", record.set))
    stem = ".".join(re.sub(r"[^\w=.-]+", "-", word).strip("-.") or "set" for word in (files, *changed))[:LONGEST]
    model = None if is_of_run or record.checkpoint is None else record.checkpoint.sha256
    path = folder / f"{stem}.json"
    if not _is_taken(path, passport.identity, model, is_of_run):
        return path
    digest = hashlib.sha256(json.dumps([passport.identity, model], sort_keys=True).encode()).hexdigest()
    return folder / f"{stem}-{digest[:8]}.json"


def _is_taken(path: Path, identity: list[Any], model: str | None, is_of_run: bool) -> bool:
    """Return whether a file is the passport of something else."""
    try:
        there = Passport(str(path), _read(path), ())
    except (DataError, OSError):
        return False
    checkpoint = there.record.checkpoint
    return there.identity != identity or (not is_of_run and (checkpoint and checkpoint.sha256) != model)


def keep_passport(
    passport: Passport,
    defaults: Values,
    path: Path | None,
    out: Path | None = None,
    progress: Progress = SILENT,
) -> tuple[Path, ...]:
    """Write a passport beside its run, where that can be written to, and to `out`; return the files.

    `defaults` are the decoding settings that its name leaves out.
    """
    files = []
    if out is not None:
        files.append(out if out.suffix == ".json" else passport_path(out, passport, defaults))
        passport.write(files[-1])
    if path is None:
        return tuple(files)
    if RunFolder(path).exists:
        beside = passport_path(path / FOLDER, passport, defaults, is_of_run=True)
        try:
            passport.write(beside)
            files.append(beside)
        except OSError as error:
            if out is None:
                progress.warn(
                    f"{path}: no passport could be written here ({error.strerror}); name a folder with --out."
                )
    elif out is None:
        progress.info(f"{path}: this is a checkpoint, not a run, so no passport was written; name a file with --out.")
    return tuple(files)
