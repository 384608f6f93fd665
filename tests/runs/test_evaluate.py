"""`regard.evaluate` and `compare`: paths, runs and pipelines of every task, and what is no set or no model."""

import shutil
from functools import cache

import pytest

import regard
from every_task import TASKS
from regard.errors import ConfigError, RegardError
from regard.runs.evaluate import evaluate
from regard.runs.run import Run
from regard.runs.scores.compare import compare
from regard.tasks.evaluation import Evaluation

WITH_SETS = [name for name in TASKS if name != "vectors"]


@pytest.fixture(scope="module")
def tiny_pipelines(tiny_runs):
    return cache(lambda task: regard.load(tiny_runs / task, "cpu"))


@pytest.mark.parametrize("task", WITH_SETS)
def test_a_pipeline_is_compared_with_its_run_and_the_result_has_intervals(task, tiny_runs, tmp_path):
    shutil.copytree(tiny_runs / task, tmp_path / "run")
    run = Run(tmp_path / "run")
    (own,) = evaluate(run, against=regard.load(run.best, "cpu"), device="cpu").values()
    assert own.task == task and own.count == len(own.outputs) > 0 and own.intervals
    assert all(low <= own[key] + 1e-9 and own[key] <= high + 1e-9 for key, (low, high) in own.intervals.items())
    assert own.comparison is not None and {each.p for each in own.comparison.differences} == {1.0}
    assert compare(own, own).differences == own.comparison.differences
    assert own.name in (run.path / "README.md").read_text() and own.files[0].parent == run.path / "scores"


@pytest.mark.parametrize("data", [3, "nowhere.txt", {"colour": 1}, [object()], [("a",) * 9]])
@pytest.mark.parametrize("task", WITH_SETS)
def test_what_is_no_set_is_refused_in_one_sentence(task, data, tiny_pipelines):
    with pytest.raises(RegardError) as error:
        evaluate(tiny_pipelines(task), data, device="cpu")
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


def test_a_pipeline_alone_needs_data_and_options_are_those_of_its_task(tiny_pipelines):
    generator = tiny_pipelines("language-model")
    with pytest.raises(
        ConfigError, match="data: a pipeline alone has no test sets; give data, or the path of a run."
    ):
        evaluate(generator)
    with pytest.raises(ConfigError, match="beam_size"):
        evaluate(generator, "x.txt", beam_size=2)
    with pytest.raises(ConfigError, match="model: NoneType is no model that can be evaluated"):
        evaluate(None)


def test_two_runs_are_compared_and_an_evaluation_only_with_another(tiny_runs, tmp_path):
    path = tiny_runs / "classify"
    comparison = compare(path, path, device="cpu")
    assert comparison.set == "valid" and {each.p for each in comparison.differences} == {1.0}
    again = compare(path / "scores" / "valid.json", path, device="cpu")
    assert again.differences == comparison.differences
    with pytest.raises(ConfigError, match="compare: an evaluation is compared with another evaluation; give two"):
        compare(Evaluation("a", {}), path)
    shutil.copy(path / "scores" / "valid.json", tmp_path)
    shutil.copy(path / "scores" / "valid.outputs.txt", tmp_path)
    with pytest.raises(ConfigError, match="this passport is not in the folder of its run; name the run instead."):
        compare(tmp_path / "valid.json", path)
