"""The defaults of the task contract, for a task that declares little."""

from types import SimpleNamespace

import pytest

from regard.errors import ConfigError
from regard.pipelines.base import Options, Result
from regard.pipelines.inputs import SingleText
from regard.tasks.contract import Task, find_task
from regard.tasks.declarations import Metric, Operation, Wording
from regard.tasks.evaluation import Evaluation


class Summarize(Task):
    name = "summarize"
    wording = Wording("a summarizer", "summarizers", "--data FILE")
    operations = (
        Operation("summarize", "Summarize.", SingleText, ("text",), Options, Result),
        Operation("score", "Score.", SingleText, ("text",), Options, Result, method="score"),
    )
    metrics = (
        Metric("rouge", "ROUGE", is_validated=True),
        Metric("loss", "loss", best="min", is_validated=True),
        Metric("length", "length"),
    )

    def settings(self, model):
        raise NotImplementedError

    defaults = prepare = pipeline = eval_sets = evaluate = describe = settings


TASK = Summarize()


def prepared(**counts):
    return SimpleNamespace(feed=None, report=SimpleNamespace(model_dump=lambda: {"train": counts}))


def test_checkpoints_may_be_selected_by_validated_metrics_that_grow():
    assert TASK.selection_metrics == ["rouge"]


def test_the_commands_of_a_model_end_with_evaluate():
    assert TASK.verbs == "summarize, score or regard evaluate" and TASK.suggested(None).name == "summarize"


@pytest.mark.parametrize(
    ("counts", "tokens"),
    [({"tokens": 7, "kept": 3}, 7), ({"words": 5}, 5), ({"tokens": 0, "words": 3}, 3), ({}, 0)],
)
def test_the_tokens_of_an_epoch_come_from_the_report(counts, tokens):
    assert TASK.train_tokens(prepared(**counts)) == tokens


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: TASK.memory_set("data", []), "data: summarizers are evaluated on files; name one as settings do."),
        (
            lambda: TASK.differences(None, None, []),
            "--against: summarizers have no output per example to compare; leave it out.",
        ),
        (
            lambda: TASK.set_hashes(None),
            "--against: summarizers have no output per example to compare; leave it out.",
        ),
        (
            lambda: TASK.evaluate_outputs(None, [], "a.txt"),
            "--against a.txt: summarizers are compared with a run or a passport; name one.",
        ),
    ],
)
def test_what_a_task_does_not_have_is_refused_in_its_words(call, sentence):
    with pytest.raises(ConfigError) as error:
        call()
    assert str(error.value) == sentence


def test_scores_are_kept_by_set_and_the_first_one_ranks_a_run():
    evaluations = [Evaluation(name, {"scores": [{"name": "ROUGE", "value": 12.346}]}) for name in ("a", "b")]
    scores = TASK.record_scores(evaluations)
    assert list(scores) == ["a", "b"] and scores["b"]["name"] == "b"
    assert TASK.best_score(scores) == ("ROUGE", 12.35, "a")
    assert TASK.best_score({}) is None and TASK.split_scores(scores) is scores


def test_a_task_needs_every_abstract_part():
    class Incomplete(Task):
        name = "incomplete"

    with pytest.raises(TypeError, match="abstract"):
        Incomplete()


def test_a_task_is_found_by_its_name():
    assert find_task("translate").name == "translate"
    with pytest.raises(ConfigError, match='^task: "summarize" is not one of translate, '):
        find_task("summarize")
