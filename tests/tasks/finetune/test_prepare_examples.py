"""Preparation of a fine-tuning run, without training."""

import pytest
import torch

from labeled import Telling, write_reviews
from regard.errors import ConfigError
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.classify.pipeline import Classifier
from regard.tasks.classify.task import TASK
from regard.tasks.declarations import Context, EvaluateOptions
from regard.tasks.finetune.prepare import LM_WEIGHT
from regard.training.device.machine import prepare_machine
from tuning import BERT


@pytest.fixture
def prepare(tmp_path):
    path = str(write_reviews(tmp_path / "a.csv", 60))

    def call(resumed=None, **changes):
        given = {name: value for name, value in BERT.items() if not name.startswith("train.")}
        overrides = given | {"data.train.path": path} | {name.replace("__", "."): v for name, v in changes.items()}
        settings = resolve_run(find_recipe("classify"), overrides).settings
        context = Context(prepare_machine(settings.machine), Telling(), resumed)
        data = TASK.load_data(settings, context)
        return TASK.prepare(settings, data, TASK.build(settings, data, context), context)

    return call


def test_the_feed_holds_every_training_example_once_an_epoch(prepare):
    prepared = prepare()
    assert prepared.report.train.kept + prepared.report.valid.kept == 60
    assert prepared.feed.updates_in(epoch=0) == round(prepared.report.train.kept / 8)  # few rows: small updates
    assert prepared.report.hash and prepared.report.texts == 1 and list(prepared.tests) == ["valid"]
    assert prepared.bundle.facts["labels"] == ["kind", "unkind"] and prepared.bundle.facts["max_length"] == 64


def test_the_same_settings_give_the_same_model_and_data(prepare):
    one, other = prepare(), prepare()
    assert one.report == other.report
    for first, second in zip(one.bundle.model.parameters(), other.bundle.model.parameters(), strict=True):
        assert torch.equal(first, second)


def test_a_resumed_run_keeps_the_model_of_its_checkpoint(prepare):
    first = prepare()
    resumed = prepare(resumed=first.bundle)
    assert resumed.bundle is first.bundle and resumed.report == first.report


def test_validation_computes_what_an_evaluation_does(prepare):
    prepared = prepare()
    metrics = prepared.validate(prepared.bundle.model.eval())
    evaluation = TASK.evaluate(Classifier(prepared.bundle), prepared.tests["valid"], EvaluateOptions())
    assert set(metrics) == {"loss", "accuracy", "macro_f1", "matthews"}
    assert metrics == {name: pytest.approx(evaluation.metrics[name], abs=1e-5) for name in metrics}


def test_only_a_causal_model_has_a_next_token_loss(prepare):
    assert prepare().objective.lm_weight == 0.0
    causal = {"model__preset": "gpt-tiny", "model__attention_dropout": 0.0}
    assert prepare(**causal).objective.lm_weight == LM_WEIGHT
    assert prepare(**causal, objective__lm_weight=0.25).objective.lm_weight == 0.25


@pytest.mark.parametrize(
    ("changes", "length"), [({}, 64), ({"max_length": 20}, 20), ({"model__max_positions": 16}, 16)]
)
def test_max_length_is_bounded_by_the_positions(prepare, changes, length):
    assert prepare(**changes).bundle.facts["max_length"] == length


@pytest.mark.parametrize(
    ("changes", "head"),
    [
        ({}, ("token", 0)),
        ({"pooling": "mean"}, ("mean", 0)),
        ({"bilstm_width": 8}, ("max", 8)),
        ({"bilstm_width": 8, "pooling": "mean"}, ("mean", 8)),
    ],
)
def test_the_default_pooling_depends_on_the_bilstm(prepare, changes, head):
    settings = prepare(**changes).bundle.head
    assert (settings.pooling, settings.bilstm_width) == head and not settings.freeze_body


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"freeze_body": True},
            "freeze_body: there is no pretrained model to freeze; give --init-from, or leave it out.",
        ),
        ({"max_length": 65}, "max_length: 65 tokens are more than the 64 positions of the model; lower it."),
        (
            {"model__preset": "gpt-tiny", "bilstm_width": 8},
            "bilstm_width: a BiLSTM is for bidirectional models; leave it out.",
        ),
        (
            {"objective__lm_weight": 0.5},
            "objective.lm_weight: 0.5 is for language models; a text encoder attends to the next token, so leave it "
            "out.",
        ),
    ],
)
def test_settings_that_do_not_fit_the_model_are_refused(prepare, changes, sentence):
    with pytest.raises(ConfigError) as error:
        prepare(**changes)
    assert str(error.value) == sentence
