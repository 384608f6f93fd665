"""How well examples are answered: figures, how sure they are, the surest mistakes, and a passport for each set."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint.identity import HUGGING_FACE, model_place
from regard.data.settings.examples import ExampleData
from regard.errors import ConfigError, DataError, RunError
from regard.metrics.bootstrap import RESAMPLES, SEED, Statistic, bootstrap
from regard.metrics.significance import paired
from regard.progress import SILENT, Progress
from regard.runs.scores.compare import Comparison, check_comparable, check_same_set
from regard.runs.scores.passport import Passport, keep_passport, known, read_passport, surroundings
from regard.runs.store.folder import Run
from regard.tasks.data import Prepared
from regard.tasks.finetune.base import Answers, Facts, HeadTask
from regard.tasks.finetune.data import ExampleReport, gather_examples, read_set
from regard.tasks.finetune.shapes import SHAPES, SOURCES
from regard.tasks.load import load

MISTAKES = 10
"""Mistakes that are kept of each set."""


@dataclass(frozen=True)
class ScoredSet:
    """Examples, and what a model reads of them."""

    examples: Sequence[Any]
    encoded: Any


@dataclass(frozen=True)
class Measured:
    """What came of one set."""

    figures: dict[str, Any]
    passport: Passport
    files: tuple[Path, ...] = ()
    """Where the passport was written."""
    comparison: Comparison | None = None

    def plain(self) -> dict[str, Any]:
        """Return it as plain values."""
        found = self.figures | {"files": [str(file) for file in self.files]}
        return found | ({"against": self.comparison.plain()} if self.comparison else {})


def figures_of(
    shape: HeadTask[Any], examples: Sequence[Any], answers: Answers, facts: Facts, name: str
) -> dict[str, Any]:
    """Return all figures of a set as plain values, each score with the interval that chance leaves it."""
    figures = shape.figures(examples, answers, facts)
    statistics = shape.statistics(examples, answers.lines, facts)
    signature = f"{len(examples):,} {shape.what}s"
    return {
        "name": name,
        "examples": len(examples),
        "loss": answers.loss,
        **figures,
        "intervals": {each: list(bootstrap(statistic, len(examples))) for each, statistic in statistics.items()},
        "mistakes": [asdict(each) for each in shape.mistakes(examples, answers, MISTAKES)],
        "test_set": shape.hashes(examples),
        "scores": [
            {
                "name": score.words,
                "value": 100 * figures[score.figure],
                "signature": f"{signature}|{score.rule}" if score.rule else signature,
            }
            for score in shape.scores
        ],
    }


def measure_set(
    pipeline: Any, checkpoint: str | Path, origin: str, scored: ScoredSet, name: str, progress: Progress = SILENT
) -> Measured:
    """Return the figures of a pipeline on a set, and their passport."""
    shape, facts = SHAPES[pipeline.bundle.task], pipeline.bundle.facts
    limit = pipeline.batch_tokens
    answers = shape.ask(pipeline.model, facts, scored.examples, scored.encoded, pipeline.device, limit, progress)
    figures = figures_of(shape, scored.examples, answers, facts, name)
    if pipeline.mix is not None:
        figures["mix"] = pipeline.mix
    told = {key: known(value) for key, value in figures.items() if key not in ("name", "mistakes")}
    passed = {"set": name, **told, "decode": shape.decoding(facts), **surroundings(pipeline, checkpoint)}
    return Measured(figures, Passport(origin, passed, tuple(answers.lines)))


def score_labels(run: Run, pipeline: Any, prepared: Prepared, progress: Progress = SILENT) -> dict[str, Any]:
    """Score a run that has just ended on its test sets, write their passports, and return the figures by set."""
    found = {}
    for name, scored in prepared.tests.items():
        measured = measure_set(pipeline, run.best, str(run.path), scored, name, progress)
        keep_passport(measured.passport, measured.passport.facts["decode"], run.path, progress=progress)
        found[name] = measured.figures
    return found


def measure_labels(
    path: str | Path,
    place: Any = None,
    *,
    test_set: str | None = None,
    against: str | Path | None = None,
    out: Path | None = None,
    device: str = "auto",
    progress: Progress = SILENT,
) -> dict[str, Measured]:
    """Evaluate a run or checkpoint that was fine-tuned on other examples, or on its own test sets, by name.

    The path may be hf: and a Hugging Face folder too. `against` is another run or checkpoint, or a passport.
    """
    pipeline: Any = load(path, device)
    shape, facts = SHAPES[pipeline.bundle.task], pipeline.bundle.facts
    sets = _sets(shape, pipeline, path, place, test_set, progress)
    if out is not None and out.suffix == ".json" and len(sets) > 1:
        raise ConfigError(
            f"--out {out} holds one passport, but there are {len(sets)} sets ({', '.join(sets)}); name a folder, or "
            f"choose one with --test-set."
        )
    rival = None if against is None else _Rival(Path(against), pipeline.bundle.task, device)
    found = {}
    for name, examples in sets.items():
        if str(path).startswith(HUGGING_FACE):
            examples = shape.adapt(name, examples, facts, progress)
        shape.check(name, examples, facts)
        if rival:
            rival.check(str(path), shape.hashes(examples))
        scored = ScoredSet(examples, shape.encode(examples, pipeline.bundle))
        measured = measure_set(pipeline, model_place(path), str(path), scored, name, progress)
        usual = measured.passport.facts["decode"]
        files = keep_passport(measured.passport, usual, Path(path), out, progress)
        comparison = None
        if rival:
            other = rival.on(examples, name, progress)
            comparison = _compared(shape, examples, facts, measured.passport, other)
        found[name] = Measured(measured.figures, measured.passport, files, comparison)
    return found


def _sets(
    shape: HeadTask[Any], pipeline: Any, path: str | Path, place: Any, test_set: str | None, progress: Progress
) -> dict[str, list[Any]]:
    """Return the examples at a place, or a run's own test sets; without any, what is watched."""
    if place is not None:
        if test_set is not None:
            raise ConfigError(f"--test-set {test_set} is one of the run's own test sets; leave it out, or --data.")
        usual = pipeline.bundle.facts.get("columns")
        return {place.name: read_set(shape, place, ExampleReport(), progress, usual=usual)}
    run = Run(Path(path))
    if not run.exists:
        raise RunError(f"{path}: a checkpoint alone has no test sets; give --data FILE.")
    source = SOURCES[pipeline.bundle.task]
    data = run.data_settings(ExampleData[source])  # type: ignore[valid-type]
    gathered = gather_examples(shape, data, progress, pipeline.bundle.facts.get("labels"))
    sets = gathered.tests or {"valid": gathered.valid}
    if test_set is not None and test_set not in sets:
        raise ConfigError(f"--test-set {test_set}: this run has no such test set ({', '.join(sets)}).")
    return sets if test_set is None else {test_set: sets[test_set]}


class _Rival:
    """The other system: one that answers, or one whose answers are there already."""

    def __init__(self, path: Path, task: str, device: str) -> None:
        self.path = path
        self.pipeline: Any = None
        self.passport = read_passport(path) if path.suffix == ".json" and path.is_file() else None
        if self.passport is not None:
            return
        self.pipeline = load(path, device)
        if self.pipeline.bundle.task != task:
            raise ConfigError(
                f'{path}: its task is "{self.pipeline.bundle.task}", and only models of the same task ({task}) can '
                f"be compared."
            )

    def check(self, origin: str, hashes: dict[str, Any]) -> None:
        """Refuse what cannot be compared before anything is answered."""
        if self.passport is not None:
            check_same_set(origin, hashes, self.passport)

    def on(self, examples: Sequence[Any], name: str, progress: Progress) -> Passport:
        """Return its passport on a set."""
        if self.passport is not None:
            return self.passport
        shape, bundle = SHAPES[self.pipeline.bundle.task], self.pipeline.bundle
        shape.check(f"{self.path} on {name}", examples, bundle.facts)
        scored = ScoredSet(examples, shape.encode(examples, bundle))
        checkpoint = model_place(self.path)
        return measure_set(self.pipeline, checkpoint, str(self.path), scored, name, progress).passport


def _compared(
    shape: HeadTask[Any], examples: Sequence[Any], facts: Facts, first: Passport, second: Passport
) -> Comparison:
    """Return two systems on the same examples, figure by figure."""
    check_comparable(first, second)
    if len(first.hypotheses) != len(second.hypotheses):
        raise DataError(f"{first.origin} and {second.origin} do not answer the same number of examples.")
    one, other = (_statistics(shape, examples, facts, each) for each in (first, second))
    differences = tuple(
        paired(
            score.words,
            first.signatures[score.words],
            _percent(one[score.figure]),
            _percent(other[score.figure]),
            len(examples),
        )
        for score in shape.scores
        if score.figure in one
    )
    mine, its = first.facts.get("decode", {}), second.facts.get("decode", {})
    decoding = {name: (mine[name], its[name]) for name in mine if name in its and mine[name] != its[name]}
    return Comparison(first.facts["set"], first.origin, second.origin, RESAMPLES, SEED, differences, decoding)


def _statistics(
    shape: HeadTask[Any], examples: Sequence[Any], facts: Facts, passport: Passport
) -> dict[str, Statistic]:
    """Return the figures of answers as functions; those of a passport may be of another task."""
    try:
        return shape.statistics(examples, passport.hypotheses, facts)
    except (KeyError, ValueError, IndexError) as error:
        raise DataError(
            f"{passport.origin}: its answers are not those of the task ({error}); evaluate it again."
        ) from None


def _percent(statistic: Statistic) -> Statistic:
    return lambda counts: 100 * statistic(counts)
