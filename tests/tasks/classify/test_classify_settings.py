"""Settings of classifiers: the problem, its threshold and its metrics."""

import pytest
from pydantic import ValidationError

from regard.models.gpt.model import GptSettings
from regard.tasks.classify.records import ClassifyFacts
from regard.tasks.classify.settings import MULTI_LABEL, SINGLE_LABEL, VALIDATED, ClassifySettings
from regard.tasks.classify.task import TASK

GIVEN = {"data": {"train": {"path": "a.jsonl"}}, "model": {"family": "gpt", "width": 16, "heads": 2, "layers": 1}}


def settings(**changes):
    return ClassifySettings[GptSettings].model_validate(GIVEN | changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"problem_type": SINGLE_LABEL, "threshold": 0.3}, "threshold: one label is the most probable one; leave it"),
        (
            {"problem_type": MULTI_LABEL, "train": {"select_by": "accuracy"}},
            'train.select_by: "accuracy" is no metric of multi_label_classification; choose one of loss, micro_f1',
        ),
        (
            {"problem_type": SINGLE_LABEL, "train": {"select_by": "exact_match"}},
            'train.select_by: "exact_match" is no metric of single_label_classification; choose one of',
        ),
    ],
)
def test_settings_that_contradict_the_problem_are_refused(changes, sentence):
    with pytest.raises(ValidationError, match=sentence):
        settings(**changes)


def test_a_checkpoint_of_an_earlier_version_has_one_label_a_text():
    known = {"labels": ["a"], "texts": 1, "pair_encoding": "cross-encoder", "max_length": 8}
    assert not ClassifyFacts.model_validate(known).is_multi_label
    assert ClassifyFacts.model_validate(known | {"problem_type": MULTI_LABEL}).threshold == 0.5


def test_each_problem_has_its_metrics():
    for problem in (SINGLE_LABEL, MULTI_LABEL):
        validated = [each.key for each in TASK.metrics_of(settings(problem_type=problem)) if each.is_validated]
        assert validated == list(VALIDATED[problem])
    assert TASK.metrics_of(settings()) == TASK.metrics_of(settings(problem_type=SINGLE_LABEL))
