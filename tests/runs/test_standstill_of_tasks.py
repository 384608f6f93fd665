"""A model of any task that learns nothing begins anew at half the rate, and is given up in the end."""

import pytest

import regard
from every_task import TASKS
from labeled import Telling
from regard.config.overrides import parse_overrides
from regard.errors import RunError
from regard.runs.run import Run
from regard.runs.train import train
from regard.tasks.contract import find_task

STUCK = {"train.steps": 24, "train.validate_every": 4, "train.log_every": 2, "train.rollbacks": 1}
LOOPED = [name for name in TASKS if name != "vectors"]


@pytest.fixture
def impatient(monkeypatch):
    """Runs of a few updates are watched as those of hundreds are."""
    monkeypatch.setattr("regard.training.standstill.FEWEST_OF_SHORT", 4)


def plain(task, folder):
    """The settings of a tiny run, typed as a shell types them."""
    return parse_overrides([f"{key}={value}" for key, value in TASKS[task].overrides(folder / "data").items()])


def shown_on(task, folder, **changes):
    told = Telling()
    settings = plain(task, folder) | STUCK | {"train.schedule": "constant"}
    settings |= {name.replace("__", "."): value for name, value in changes.items()}
    return lambda: train(task, settings, out=folder / "run", progress=told), told


@pytest.mark.parametrize("task", LOOPED)
def test_a_model_that_does_not_move_is_noticed(task, tmp_path, impatient):
    run, told = shown_on(task, tmp_path, train__learning_rate=1e-12)
    with pytest.raises(RunError) as error:
        run()
    assert "the model learns nothing, at 2 learning rates; lower train.learning_rate" in str(error.value)
    (restart,) = [each for each in told.warned if "starts again from step 0 with 0.5 times" in each]
    assert restart.startswith("step ")
    assert Run(tmp_path / "run").record.state == "failed"


@pytest.mark.parametrize("task", ["translate", "language-model", "tag", "regress"])
def test_a_rate_that_is_far_too_high_is_noticed(task, tmp_path, impatient):
    run, told = shown_on(task, tmp_path, train__learning_rate=3.0, train__steps=48)
    with pytest.raises(RunError, match="lower train.learning_rate"):
        run()
    assert any("times the learning rate" in each for each in told.warned)


def test_word_vectors_that_diverge_begin_anew(tmp_path):
    told, place = Telling(), plain("vectors", tmp_path)
    high = {"train.learning_rate": 40.0, "train.words_per_update": 128, "train.steps": 40, "train.rollbacks": 2}
    with pytest.raises(RunError, match="the model learns nothing, at 3 learning rates; lower train.learning_rate"):
        train("vectors", place | high, out=tmp_path / "run", progress=told)
    assert [each.split("with ")[1] for each in told.warned if "starts again" in each] == [
        "0.5 times the learning rate.",
        "0.25 times the learning rate.",
    ]


def test_word_vectors_that_have_learned_nothing_are_told(tmp_path):
    told, place = Telling(), plain("vectors", tmp_path)
    train("vectors", place | {"train.words_per_update": 128, "train.steps": 4}, out=tmp_path / "run", progress=told)
    assert any("these vectors mean little; raise train.epochs, or add text." in each for each in told.warned)


def test_a_constant_prediction_is_announced_where_a_run_ends(tmp_path):
    run, told = shown_on("classify", tmp_path, train__learning_rate=1e-12, train__steps=4)
    run()
    assert any("valid: all 9 outputs are" in each and "regard doctor" in each for each in told.warned)


@pytest.mark.parametrize(
    ("task", "outputs", "sentence"),
    [
        ("classify", ["good", "good"], 'all 2 outputs are "good"'),
        ("classify", ["good", "bad"], ""),
        ("classify", ["good"], ""),
        ("tag", ["O O", "O"], 'every word of 2 sentences is tagged "O"'),
        ("tag", ["O O", "B-PER"], ""),
        ("regress", ["1.25", "1.2501"], "all 2 numbers are 1.25"),
        ("regress", ["1.25", "1.5"], ""),
        ("answer", ["", ""], "none of 2 questions gets an answer"),
        ("answer", ["", "Rome"], ""),
    ],
)
def test_constant_predictions_have_words(task, outputs, sentence):
    assert find_task(task).constant(outputs) == sentence


def test_a_model_that_learns_raises_no_alarm(tmp_path):
    run, told = shown_on("language-model", tmp_path, train__learning_rate=1e-2, train__steps=80)
    run()
    assert not any("starts again" in each for each in told.warned)
    assert regard.load(tmp_path / "run") is not None
