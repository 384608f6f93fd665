"""The other system of a comparison, and the model that is evaluated."""

import numpy as np
import pytest

from regard.errors import ConfigError, DataError
from regard.metrics.bootstrap import ratio
from regard.runs.run import Run
from regard.runs.scores.model import open_model, task_of
from regard.runs.scores.rival import Rival, ScoredSystem, compare_systems
from regard.tasks.contract import find_task

TASK = find_task("language-model")


def system(name, nll, signatures=None, decode=None):
    nll = np.asarray(nll, float)
    words = np.full(len(nll), 10.0)
    statistics = {"word_perplexity": ratio(nll, words), "perplexity": ratio(nll, words)}
    return ScoredSystem(name, statistics, len(nll), signatures or {}, decode or {})


def test_a_lower_perplexity_is_better_and_other_settings_are_named():
    better, worse = np.linspace(10, 20, 40), np.linspace(15, 25, 40)
    one = system("a", better, decode={"window": 32, "stride": 4})
    comparison = compare_systems(TASK, "test", one, system("b", worse, decode={"window": 64, "stride": 4}))
    first = comparison.differences[0]
    assert first.metric.label == "word perplexity" and first.first_is_better and first.is_significant
    assert comparison.words()[0].startswith("word perplexity: a is better than b (difference -0.50")
    assert comparison.words()[-1] == "Their decoding differs too: window 32 and 64."
    assert comparison.to_dict()["differences"][0]["metric"]["key"] == "word_perplexity"


def test_a_metric_computed_by_another_rule_is_left_out_and_named():
    signatures = [{"perplexity": f"tokenizer {name}", "word_perplexity": "documents"} for name in "xy"]
    first, second = (system(name, [1, 2, 3], each) for name, each in zip("ab", signatures, strict=True))
    comparison = compare_systems(TASK, "test", first, second)
    assert [each.metric.key for each in comparison.differences] == ["word_perplexity"]
    assert comparison.left_out == ("Not compared: perplexity was computed as tokenizer x and as tokenizer y.",)


def test_systems_with_different_examples_cannot_be_paired():
    with pytest.raises(DataError) as error:
        compare_systems(TASK, "test", system("a", [1, 2]), system("b", [1, 2, 3]))
    assert str(error.value) == (
        "a and b cannot be paired: they have 2 and 3 outputs on test; evaluate both on the same set, cut in the same "
        "way."
    )


def test_models_are_paths_runs_and_pipelines(tiny_runs):
    path = tiny_runs / "classify"
    opened = open_model(Run(path), "cpu")
    assert opened.origin == str(path) and opened.record is not None and opened.task.name == "classify"
    assert open_model(opened.pipeline).name == "this model" and task_of(opened.pipeline).name == "classify"
    with pytest.raises(ConfigError) as error:
        task_of(3)
    assert str(error.value) == (
        "model: int is no model that can be evaluated; give the path of a run, or what regard.load returns."
    )


def test_a_model_of_another_task_is_refused_before_it_is_loaded(tiny_runs):
    with pytest.raises(
        ConfigError, match='its task is "classify", and only models of the same task .language-model.'
    ):
        Rival(TASK, tiny_runs / "classify", "cpu")
