"""Two models, evaluations or passports compared on the same set by a paired bootstrap test."""

from pathlib import Path

from regard import registry
from regard.errors import ConfigError
from regard.metrics.comparison import Comparison
from regard.progress import SILENT, Progress
from regard.runs.scores.evaluate import evaluate_sets
from regard.runs.scores.passport import FOLDER, read_passport
from regard.runs.scores.rival import ScoredSystem, check_same_set, compare_systems
from regard.tasks.evaluation import Evaluation
from regard.tasks.record import HashesRecord


def compare(
    first: object, second: object, *, test_set: str | None = None, device: str = "auto", progress: Progress = SILENT
) -> Comparison:
    """Return the paired bootstrap test of two systems on one set.

    Both are evaluations, or `first` is a run (its first test set, or the one named) or a passport in a run's folder,
    and `second` another run, checkpoint, pipeline, passport or file of outputs.
    """
    if isinstance(first, Evaluation) and isinstance(second, Evaluation):
        hashes = HashesRecord.model_validate(dict(second.hashes))
        check_same_set(f"{first.name} of the first", dict(first.hashes), "that of the second", hashes)
        systems = (ScoredSystem.of(each, name) for each, name in ((first, "the first"), (second, "the second")))
        return compare_systems(registry.task(first.task), first.name, *systems)
    if isinstance(first, Evaluation) or isinstance(second, Evaluation):
        raise ConfigError(
            "compare: an evaluation is compared with another evaluation; give two of them, or two runs."
        )
    if isinstance(first, (str, Path)) and Path(first).suffix == ".json":
        passport, folder = read_passport(Path(first)), Path(first).parent
        if folder.name != FOLDER:
            raise ConfigError(f"{first}: this passport is not in the folder of its run; name the run instead.")
        first, test_set = folder.parent, test_set or passport.record.set
    evaluations = evaluate_sets(first, test_set=test_set, device=device, progress=progress, against=second)
    comparison = next(iter(evaluations.values())).comparison
    assert comparison is not None, "evaluated against the second"
    return comparison
