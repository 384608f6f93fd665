"""`regard predict` is the verb of a model's first operation, for any model."""

import pytest

from commands import bad, good
from every_task import TASKS
from regard.cli.predict.operations import predict
from regard.cli.verb import verb_of
from regard.errors import ConfigError
from regard.tasks.contract import find_task


@pytest.mark.parametrize("task", TASKS)
def test_the_verb_is_that_of_the_first_operation(task, tiny_runs):
    assert verb_of(str(tiny_runs / task)) == find_task(task).operations[0].name.split()


def test_a_call_is_the_same_as_that_of_the_verb(tiny_runs):
    for task, verb, text in (("translate", "translate", "Der Hund."), ("classify", "classify", "a fine film")):
        run = tiny_runs / task
        assert good("predict", run, text, "--json") == good(verb, run, text, "--json")


def test_help_after_a_run_shows_the_options_of_its_verb(tiny_runs):
    assert "--beam-size" in good("predict", tiny_runs / "translate", "--help")
    text = good("predict", tiny_runs / "classify", "--help")
    assert "--text-column" in text and "--beam-size" not in text


def test_what_is_no_model_is_refused(tmp_path):
    assert bad("predict", tmp_path / "none", "x").startswith(f"{tmp_path / 'none'}: ")
    assert "RUN" in bad("predict")


def test_a_model_after_options_is_refused():
    with pytest.raises(ConfigError, match="runs/x: name the model right after predict, then its inputs and options."):
        predict("runs/x")
