"""Score passports: metrics with the hashes, settings and versions needed to repeat and compare them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regard import registry
from regard.checkpoint.atomic import write_json
from regard.checkpoint.facts import TaskFacts
from regard.checkpoint.identity import model_hash
from regard.config.names import inside
from regard.config.records import check_record, read_json
from regard.data.sources.lines import lines_hash, read_lines
from regard.errors import DataError, RunError
from regard.progress import SILENT, Progress
from regard.runs.store.folder import RunFolder
from regard.tasks.evaluation import Evaluation, finite
from regard.tasks.record import PassportRecord
from regard.training.device.machine import Machine
from regard.version import __version__

FORMAT = 2
FOLDER = "scores"
LEFT_OUT = ("errors",)
"""Metrics that stay out of a passport, which has every output beside it."""


@dataclass(frozen=True)
class Passport:
    """The scores of one system on one set."""

    origin: str
    """The name of the system in messages: the path of a run, of a passport or of a file of hypotheses."""
    facts: dict[str, Any]
    """The passport as plain JSON."""
    outputs: tuple[str, ...] = field(repr=False)

    @property
    def record(self) -> PassportRecord:
        """The passport, typed, whatever it was made from."""
        return PassportRecord.model_validate(
            {"passport": FORMAT, "hypotheses": {"file": "-", "sha256": ""}} | self.facts
        )

    @property
    def signatures(self) -> dict[str, str]:
        """The signature of each metric: how it was computed."""
        return {score.name: score.signature for score in self.record.scores}

    def write(self, path: Path) -> None:
        """Write the passport, and beside it its outputs."""
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.with_suffix(".hyp.txt")
        lines.write_text("".join(line + "\n" for line in self.outputs), encoding="utf-8", newline="\n")
        hypotheses = {"file": lines.name, "sha256": lines_hash(self.outputs)}
        write_json(path, {"passport": FORMAT} | self.facts | {"hypotheses": hypotheses})


def issue(evaluation: Evaluation, pipeline: Any, checkpoint: str | Path, origin: str) -> Passport:
    """Return the passport of an evaluation."""
    metrics = {name: finite(value) for name, value in evaluation.metrics.items() if name not in LEFT_OUT}
    facts = {
        "set": evaluation.name,
        **metrics,
        "scores": [_with_casing(score) for score in evaluation.metrics["scores"]],
        "decode": evaluation.decode,
        **surroundings(pipeline, checkpoint),
    }
    return Passport(origin, facts, evaluation.outputs)


def surroundings(pipeline: Any, checkpoint: str | Path) -> dict[str, Any]:
    """Return the model, program and machine that outputs came from."""
    dtype = str(next(pipeline.model.parameters()).dtype).removeprefix("torch.")
    machine = Machine(pipeline.device, dtype).describe()
    return {
        "checkpoint": {"path": str(checkpoint), "sha256": model_hash(checkpoint)},
        "seed": TaskFacts.read(pipeline.bundle).seed,
        "regard": __version__,
        "torch": machine["torch"],
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine,
    }


def _with_casing(score: Mapping[str, Any]) -> dict[str, Any]:
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
    lines = inside(path.parent, record.hypotheses.file, path, DataError)
    if not lines.is_file():
        raise DataError(f"{path}: its outputs ({lines.name}) are not beside it; copy them too, or evaluate again.")
    outputs = tuple(read_lines(lines))
    if lines_hash(outputs) != record.hypotheses.sha256:
        raise DataError(f"{lines}: changed since its passport was written; evaluate again.")
    return Passport(str(path), facts, outputs)


def _read(path: Path, schema: type[PassportRecord] = PassportRecord) -> dict[str, Any]:
    """Return a passport as plain JSON, checked, without its outputs."""
    what, way_out = "a score passport", "regard evaluate writes them"
    facts = read_json(path, DataError, what, way_out)
    written = facts.get("passport") if isinstance(facts, dict) else None
    if isinstance(written, int) and written > FORMAT:
        raise DataError(f"{path}: a passport in format {written}, but this version reads {FORMAT}; upgrade regard.")
    check_record(facts, path, schema, DataError, what, way_out)
    return dict(facts)


def passports_of(run: RunFolder) -> dict[str, PassportRecord]:
    """Return every passport in a run's folder by file name; other files are skipped."""
    try:
        schema: type[PassportRecord] = registry.task(run.record.task).passport or PassportRecord
    except RunError:
        schema = PassportRecord
    passports = {}
    for path in sorted((run.path / FOLDER).glob("*.json")):
        try:
            passports[path.stem] = schema.model_validate(_read(path, schema))
        except (DataError, OSError):
            continue
    return passports


def passport_path(folder: Path, passport: Passport, defaults: Mapping[str, Any]) -> Path:
    """Return the file of a passport: the set's name, with the decoding settings that are not the defaults."""
    record = passport.record
    changed = [f"{name}={value}" for name, value in record.decode.items() if defaults.get(name) != value]
    files = " ".join(Path(word).name for word in record.set.split(" and "))
    stem = ".".join(re.sub(r"[^\w=.-]+", "-", word).strip("-.") or "set" for word in (files, *changed))
    path = folder / f"{stem}.json"
    try:
        is_taken = PassportRecord.model_validate(_read(path)).set != record.set  # a file of that name elsewhere
    except (DataError, OSError):
        is_taken = False
    return folder / f"{stem}-{record.test_set.sources[:8]}.json" if is_taken else path


def keep_passport(
    passport: Passport,
    defaults: Mapping[str, Any],
    path: Path,
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
    if RunFolder(path).exists:
        beside = passport_path(path / FOLDER, passport, defaults)
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
