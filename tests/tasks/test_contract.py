"""The defaults of the task contract, for a task that declares little."""

from types import SimpleNamespace

import pytest

from regard.errors import ConfigError
from regard.pipelines.base import Options, Result
from regard.pipelines.inputs import SingleText
from regard.progress import SILENT
from regard.tasks.contract import Task, find_task
from regard.tasks.data import EvalSet
from regard.tasks.declarations import Metric, Operation, Wording


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

    defaults = load_data = build = prepare = pipeline = settings
    eval_sets = evaluate = statistics = set_hashes = describe = settings


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


def test_sets_to_evaluate_on_are_named_as_training_data_unless_the_task_declares_others():
    assert TASK.eval_flags == "--data FILE" and find_task("vectors").eval_flags.startswith("--analogies FILE")
    assert find_task("vectors").eval_source is not find_task("vectors").source
    assert find_task("classify").eval_source is find_task("classify").source


def test_a_set_made_for_one_model_is_encoded_anew_for_another(tmp_path):
    assert TASK.for_model(None, EvalSet("a", ["x"], encoded=[[1]]), tmp_path, SILENT) == EvalSet("a", ["x"])


def test_a_task_needs_every_abstract_part():
    class Incomplete(Task):
        name = "incomplete"

    with pytest.raises(TypeError, match="abstract"):
        Incomplete()


def test_a_task_is_found_by_its_name():
    assert find_task("translate").name == "translate"
    with pytest.raises(ConfigError, match='^task: "summarize" is not one of translate, '):
        find_task("summarize")
