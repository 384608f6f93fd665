"""Low-rank updates, layers unfrozen one after the other, and weights of labels: settings of every fine-tuning."""

import json
import types

import numpy as np
import pytest
import torch

import regard
from every_task import TASKS
from labeled import Telling
from regard.checkpoint.bundle import read_bundle, read_weights
from regard.config.overrides import parse_overrides
from regard.errors import ConfigError
from regard.models.families import build_model
from regard.nn.layers.low_rank import PART
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.train import train
from regard.runs.verify import verify_resume
from regard.tasks.finetune.adapting import adapt, class_weights
from regard.training.device.machine import prepare_machine

TUNED = ["classify", "regress", "tag", "answer", "choose"]
LORA = {"train.adapter": "lora", "train.lora_rank": 4}
UNFROZEN = {"train.unfreeze_over": 0.6}


@pytest.fixture(scope="module")
def body(tmp_path_factory):
    """A pretrained encoder of next to nothing."""
    folder = tmp_path_factory.mktemp("body")
    words = TASKS["masked-language-model"].words(folder / "data")[1:]
    return train("masked-language-model", parse_overrides(words), out=folder / "run").path


def settings(task, folder, body, **changes):
    """Settings of a short run that starts from the encoder."""
    given = TASKS[task].overrides(folder) | {"init_from": str(body), "train.steps": 8, "train.learning_rate": 0.02}
    given = {name: value for name, value in given.items() if not name.startswith(("model.", "text."))}
    return parse_overrides([f"{name}={json.dumps(value)}" for name, value in given.items()]) | changes


@pytest.mark.parametrize("changes", [LORA, UNFROZEN, LORA | {"train.ema_decay": 0.5}])
@pytest.mark.parametrize("task", TUNED)
def test_a_run_resumes_to_the_bit(task, changes, body, tmp_path):
    assert verify_resume(find_recipe(task), settings(task, tmp_path, body, **changes), 8).is_exact


@pytest.mark.parametrize("task", TUNED)
def test_a_checkpoint_of_updates_is_a_whole_model(task, body, tmp_path):
    told = Telling()
    run = train(task, settings(task, tmp_path / "data", body, **LORA), out=tmp_path / "run", progress=told)
    bundle = read_bundle(run.best)
    assert not any(PART in name for name in read_weights(run.best))
    fresh = build_model(bundle.settings, bundle.vocabularies, bundle.head)
    assert fresh.state_dict().keys() == bundle.model.state_dict().keys()
    assert regard.load(run.path) is not None
    (line,) = [each for each in told.said if each.startswith("LoRA: ")]
    trained, everything = (int(word.replace(",", "")) for word in line.split()[1:4:2])
    assert 0 < trained < everything


def test_updates_learn_at_ten_times_the_rate(body, tmp_path):
    rates = []
    for changes in ({}, LORA):
        given = settings("classify", tmp_path, body, **changes)
        del given["train"]["learning_rate"]
        rates.append(resolve_run(find_recipe("classify"), given).settings.train.learning_rate)
    assert rates[1] == pytest.approx(10 * rates[0])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (LORA | {"freeze_body": True}, "train.adapter: the pretrained model is frozen; set freeze_body=false"),
        (UNFROZEN | {"freeze_body": True}, "train.unfreeze_over: the pretrained model is frozen"),
        (LORA | UNFROZEN, "train.unfreeze_over: updates of frozen weights leave no layer to unfreeze"),
        (LORA | {"init_from": None}, "train.adapter: there is no pretrained model to adapt; give --init-from"),
        (UNFROZEN | {"init_from": None}, "train.unfreeze_over: there is no pretrained model to adapt"),
    ],
)
def test_contradictions_are_one_sentence(changes, sentence, body, tmp_path):
    with pytest.raises(ConfigError) as error:
        train("classify", settings("classify", tmp_path, body, **changes), out=tmp_path / "run")
    assert sentence in str(error.value)


def test_a_model_without_blocks_has_no_updates(tmp_path):
    model = torch.nn.Module()
    model.is_frozen, model.body = False, torch.nn.Linear(2, 2)
    given = types.SimpleNamespace(
        init_from="elmo",
        seed=1,
        model=types.SimpleNamespace(family="elmo"),
        train=types.SimpleNamespace(
            adapter="lora", unfreeze_over=0, lora_rank=2, lora_alpha=4.0, lora_targets="all-linear"
        ),
    )
    with pytest.raises(ConfigError, match="low-rank updates are for Transformers, and elmo is a model of the family"):
        adapt(types.SimpleNamespace(model=model), given, Telling())


def weighted(task, labels, outputs, head="classification"):
    given = types.SimpleNamespace(task=task, objective=types.SimpleNamespace(class_weights="balanced"))
    encoded = types.SimpleNamespace(labels=labels)
    machine = prepare_machine(resolve_run(find_recipe("classify"), {"data.train.path": "a"}).settings.machine)
    return class_weights(types.SimpleNamespace(head=head), given, encoded, outputs, machine)


def test_balanced_weights_are_those_of_scikit_learn():
    from sklearn.utils.class_weight import compute_class_weight

    labels = np.array([0] * 7 + [1] * 2 + [2])
    known = compute_class_weight("balanced", classes=np.arange(3), y=labels)
    assert weighted("classify", labels, 3).tolist() == pytest.approx(list(known))
    assert weighted("classify", labels, 4)[:3].tolist() == pytest.approx(list(known))  # a label without examples


def test_weights_of_other_outputs_are_refused():
    with pytest.raises(ConfigError, match="objective.class_weights: labels have weights where"):
        weighted("regress", np.array([0.5, 1.5]), 1, "regression")
    with pytest.raises(ConfigError, match="and choose predicts something else; leave it out"):
        weighted("choose", np.array([0, 1]), 1, "multiple-choice")


@pytest.mark.parametrize("task", ["classify", "tag"])
def test_weights_change_what_is_learned(task, body, tmp_path):
    runs = [
        train(task, settings(task, tmp_path / "data", body, **changes), out=tmp_path / str(number))
        for number, changes in enumerate(({}, {"objective.class_weights": "balanced"}))
    ]
    weights = [read_weights(run.best) for run in runs]
    assert any(not torch.equal(each, weights[1][name]) for name, each in weights[0].items())
