"""A run evaluated, its passports written, and another system set beside it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint.identity import model_place
from regard.data.settings.pairs import PairSource
from regard.data.sources.lines import read_lines
from regard.errors import ConfigError, DataError, RunError
from regard.metrics.translation import translation_scores
from regard.progress import SILENT, Progress
from regard.runs.scores.compare import Comparison, check_same_set, compare
from regard.runs.scores.passport import Passport, issue, keep_passport, read_passport
from regard.runs.store.folder import Run
from regard.tasks.data import Prepared
from regard.tasks.load import load_translator
from regard.tasks.translate.evaluate import EvalSet, Evaluation, evaluate, held_out_sets
from regard.tasks.translate.pipeline import Translator


@dataclass(frozen=True)
class EvaluatedSet:
    """What came of one set."""

    evaluation: Evaluation
    passport: Passport
    files: tuple[Path, ...]
    """Where the passport was written."""
    comparison: Comparison | None = None

    def plain(self) -> dict[str, Any]:
        """Return it as plain values, the hypotheses left out."""
        found = self.passport.facts | {"name": self.evaluation.name, "files": [str(file) for file in self.files]}
        return found | ({"against": self.comparison.plain()} if self.comparison else {})


def evaluate_sets(
    path: str | Path,
    place: PairSource | None = None,
    *,
    test_set: str | None = None,
    against: str | Path | None = None,
    out: Path | None = None,
    device: str = "auto",
    progress: Progress = SILENT,
    **decoding: Any,
) -> list[EvaluatedSet]:
    """Evaluate a run or checkpoint on other data or on its own test sets, and write a passport for each.

    `against` is another run or checkpoint, a passport, or a file with one hypothesis a line.
    """
    rival = _Rival(Path(against), device) if against is not None else None
    if rival and rival.passport and place is None and test_set is None:
        test_set = rival.passport.facts["set"]
    translator = load_translator(path, device)
    sets = held_out_sets(str(path), place, progress, test_set)
    _check_room(sets, out, rival)
    outcomes = []
    for held_out in sets:
        if rival:
            rival.check(str(path), held_out)
        evaluation = evaluate(translator, held_out.pairs, held_out.name, progress, held_out.references, **decoding)
        passport = issue(evaluation, translator, model_place(path), str(path))
        files = write_passport(passport, translator, Path(path), out, progress)
        comparison = None
        if rival:
            other = rival.on(held_out, progress, decoding)
            comparison = compare(passport, other, held_out.references, progress=progress)
        outcomes.append(EvaluatedSet(evaluation, passport, files, comparison))
    return outcomes


def score_tests(run: Run, translator: Translator, prepared: Prepared, progress: Progress) -> dict[str, Any]:
    """Score a run that has just ended on its test sets, write their passports, and return the figures by set."""
    figures = {}
    for name, pairs in prepared.tests.items():
        evaluation = evaluate(translator, pairs, name, progress, prepared.references.get(name))
        passport = issue(evaluation, translator, run.best, str(run.path))
        write_passport(passport, translator, run.path, progress=progress)
        figures[name] = evaluation.figures()
    return figures


def write_passport(
    passport: Passport, translator: Translator, path: Path, out: Path | None = None, progress: Progress = SILENT
) -> tuple[Path, ...]:
    """Write a passport beside its run, where that can be written to, and to `out`; return the files."""
    return keep_passport(passport, translator.decoding().model_dump(mode="json"), path, out, progress)


def _check_room(sets: list[EvalSet], out: Path | None, rival: "_Rival | None") -> None:
    """Refuse before anything is computed what could only fail after it."""
    if len(sets) == 1:
        return
    names = ", ".join(each.name for each in sets)
    if out is not None and out.suffix == ".json":
        raise ConfigError(
            f"--out {out} holds one passport, but there are {len(sets)} sets ({names}); name a folder, or choose "
            f"one with --test-set."
        )
    if rival and rival.lines is not None:
        raise ConfigError(
            f"{rival.path} holds the hypotheses of one set, but there are {len(sets)} ({names}); choose one with "
            f"--test-set."
        )


class _Rival:
    """The other system: one that translates, or one whose hypotheses are there already."""

    def __init__(self, path: Path, device: str) -> None:
        self.path = path
        self.passport: Passport | None = None
        self.lines: list[str] | None = None
        self.translator: Translator | None = None
        if not path.exists():
            raise RunError(f"{path}: there is no run, passport or file of hypotheses here; check the path.")
        if path.is_dir():
            self.translator = load_translator(path, device)
        elif path.suffix == ".json":
            self.passport = read_passport(path)
        else:
            self.lines = read_lines(path)

    def check(self, origin: str, held_out: EvalSet) -> None:
        """Refuse what cannot be compared before anything is translated."""
        if self.passport:
            check_same_set(origin, held_out.hashes(), self.passport)
        if self.lines is not None and len(self.lines) != len(held_out.pairs):
            raise DataError(
                f"{self.path} has {len(self.lines):,} lines but {held_out.name} has {len(held_out.pairs):,} "
                f"sentences; give one hypothesis a line."
            )

    def on(self, held_out: EvalSet, progress: Progress, decoding: dict[str, Any]) -> Passport:
        """Return its passport on a set."""
        if self.passport:
            return self.passport
        if self.translator:
            evaluation = evaluate(
                self.translator, held_out.pairs, held_out.name, progress, held_out.references, **decoding
            )
            return issue(evaluation, self.translator, model_place(self.path), str(self.path))
        scores = translation_scores(self.lines or [], held_out.references)
        facts = {"set": held_out.name, "test_set": held_out.hashes(), "scores": [vars(score) for score in scores]}
        return Passport(str(self.path), facts, tuple(self.lines or []))
