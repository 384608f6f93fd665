"""The score passport: figures with all it takes to trust, repeat and compare them."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_json
from regard.checkpoint.identity import model_hash
from regard.config.names import inside
from regard.config.records import check_record, read_json
from regard.data.sources.lines import lines_hash, read_lines
from regard.errors import DataError
from regard.metrics.translation import Score
from regard.progress import SILENT, Progress
from regard.runs.scores.records import PassportRecord
from regard.runs.store.folder import Run
from regard.tasks.translate.evaluate import Evaluation
from regard.tasks.translate.pipeline import Translator
from regard.training.device.machine import Machine
from regard.version import __version__

FORMAT = 2
FOLDER = "scores"
TOLD = ("beam_size", "length_penalty", "iterations", "length_candidates")
"""The settings of decoding that stand beside a score."""


@dataclass(frozen=True)
class Passport:
    """The scores of one system on one set."""

    origin: str
    """How messages call the system: the path of a run, of a passport or of a file of hypotheses."""
    facts: dict[str, Any]
    hypotheses: tuple[str, ...] = field(repr=False)

    @property
    def signatures(self) -> dict[str, str]:
        """How each metric was computed."""
        return {score["name"]: score["signature"] for score in self.facts["scores"]}

    def write(self, path: Path) -> None:
        """Write the passport, and beside it its hypotheses."""
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.with_suffix(".hyp.txt")
        lines.write_text("".join(line + "\n" for line in self.hypotheses), encoding="utf-8", newline="\n")
        hypotheses = {"file": lines.name, "sha256": lines_hash(self.hypotheses)}
        write_json(path, {"passport": FORMAT} | self.facts | {"hypotheses": hypotheses})


def issue(evaluation: Evaluation, translator: Translator, checkpoint: str | Path, origin: str) -> Passport:
    """Return the passport of an evaluation."""
    figures = {name: known(value) for name, value in evaluation.figures().items()}
    facts = {
        "set": figures.pop("name"),
        **figures,
        "scores": [_with_casing(score) for score in evaluation.scores],
        **surroundings(translator, checkpoint),
    }
    return Passport(origin, facts, evaluation.hypotheses)


def surroundings(pipeline: Any, checkpoint: str | Path) -> dict[str, Any]:
    """Return with what, and where, a pipeline has given its answers."""
    dtype = str(next(pipeline.model.parameters()).dtype).removeprefix("torch.")
    machine = Machine(pipeline.device, dtype).describe()
    return {
        "checkpoint": {"path": str(checkpoint), "sha256": model_hash(checkpoint)},
        "seed": pipeline.bundle.facts.get("seed"),
        "regard": __version__,
        "torch": machine["torch"],
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine,
    }


def known(value: Any) -> Any:
    """Return a figure, None where it is no number (nothing fits the model): JSON knows no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _with_casing(score: Score) -> dict[str, Any]:
    return asdict(score) | {"casing": "lowercased" if "case:lc" in score.signature else "mixed"}


def read_passport(path: Path) -> Passport:
    """Read a passport and its hypotheses."""
    try:
        facts = passport_facts(path)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no score passport here; check the path.") from None
    lines = inside(path.parent, facts["hypotheses"]["file"], path, DataError)
    if not lines.is_file():
        raise DataError(f"{path}: its hypotheses ({lines.name}) are not beside it; copy them too, or evaluate again.")
    hypotheses = tuple(read_lines(lines))
    if lines_hash(hypotheses) != facts["hypotheses"]["sha256"]:
        raise DataError(f"{lines}: changed since its passport was written; evaluate again.")
    return Passport(str(path), facts, hypotheses)


def passport_facts(path: Path, schema: type[PassportRecord] = PassportRecord) -> dict[str, Any]:
    """Read what a passport says, without its hypotheses."""
    what, way_out = "a score passport", "regard evaluate writes them"
    facts = read_json(path, DataError, what, way_out)
    written = facts.get("passport") if isinstance(facts, dict) else None
    if isinstance(written, int) and written > FORMAT:
        raise DataError(f"{path}: a passport in format {written}, but this version reads {FORMAT}; upgrade regard.")
    check_record(facts, path, schema, DataError, what, way_out)
    return dict(facts)


def passports_of(run: Run, schema: type[PassportRecord] = PassportRecord) -> dict[str, dict[str, Any]]:
    """Return what each passport in a run's folder says, by file name; what is no passport is passed over."""
    found = {}
    for path in sorted((run.path / FOLDER).glob("*.json")):
        try:
            found[path.stem] = passport_facts(path, schema)
        except (DataError, OSError):
            continue
    return found


def decoding_words(decode: Mapping[str, Any]) -> str:
    """Return in words how the outputs of a score came about."""
    return ", ".join(f"{name.replace('_', ' ')} {decode[name]}" for name in TOLD if name in decode)


def passport_path(folder: Path, passport: Passport, usual: Mapping[str, Any]) -> Path:
    """Return where a passport is kept: under the set's name, with the decoding settings that are not the `usual`."""
    facts = passport.facts
    changed = [f"{name}={value}" for name, value in facts["decode"].items() if usual.get(name) != value]
    files = " ".join(Path(word).name for word in facts["set"].split(" and "))
    stem = ".".join(re.sub(r"[^\w=.-]+", "-", word).strip("-.") or "set" for word in (files, *changed))
    path = folder / f"{stem}.json"
    try:
        is_taken = passport_facts(path)["set"] != facts["set"]  # a file of the same name in another folder
    except (DataError, OSError):
        is_taken = False
    return folder / f"{stem}-{facts['test_set']['sources'][:8]}.json" if is_taken else path


def keep_passport(
    passport: Passport,
    usual: Mapping[str, Any],
    path: Path,
    out: Path | None = None,
    progress: Progress = SILENT,
) -> tuple[Path, ...]:
    """Write a passport beside its run, where that can be written to, and to `out`; return the files.

    `usual` are the decoding settings that its name need not say.
    """
    files = []
    if out is not None:
        files.append(out if out.suffix == ".json" else passport_path(out, passport, usual))
        passport.write(files[-1])
    if Run(path).exists:
        beside = passport_path(path / FOLDER, passport, usual)
        try:
            passport.write(beside)
            files.append(beside)
        except OSError as error:
            if out is None:
                progress.warn(
                    f"{path}: no passport could be written here ({error.strerror}); name a place with --out."
                )
    elif out is None:
        progress.say(f"{path}: this is a checkpoint, not a run, so no passport was written; name a file with --out.")
    return tuple(files)
