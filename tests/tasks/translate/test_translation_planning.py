"""Planned defaults of translators."""

from types import SimpleNamespace

from regard.tasks.planning.inputs import PlanInput, Survey
from regard.tasks.translate.planning import R_DROP, translator_defaults, translator_shape
from regard.training.settings import MachineSettings, TrainSettings


def plan(device="cuda", characters=3_600_000, family="transformer"):
    settings = SimpleNamespace(
        model=SimpleNamespace(family=family, width=256, dropout=0.1, embedding_dropout=0.1),
        text=SimpleNamespace(kind="bpe", size=8000),
        train=TrainSettings(),
        machine=MachineSettings(),
        validation=SimpleNamespace(bleu_sentences=200),
        init_from=None,
    )
    return PlanInput(settings, frozenset(), Survey(29_000, characters, sides=2), device, 11_000_000)


def values(defaults):
    return {each.setting: each.value for each in defaults}


def test_little_text_is_regularized_in_every_way():
    few, many = values(translator_defaults(plan())), values(translator_defaults(plan(characters=10**9)))
    assert (few["text.dropout"], few["objective.r_drop"]) == (0.1, R_DROP)
    assert many["text.dropout"] == 0.0 and "objective.r_drop" not in many
    assert few["model.dropout"] > many["model.dropout"]


def test_a_cpu_pays_for_nothing_twice():
    chosen = values(translator_defaults(plan("cpu")))
    assert "objective.r_drop" not in chosen and chosen["train.select_by"] == "loss"
    assert chosen["validation.bleu_sentences"] == 200


def test_targets_of_mask_predict_have_one_segmentation():
    chosen = values(translator_defaults(plan(family="mask-predict")))
    assert chosen["text.target_dropout"] == 0.0 and "objective.r_drop" not in chosen


def test_the_default_shape_is_shallow_on_a_cpu():
    assert values(translator_shape(plan()))["model.encoder_layers"] == 5
    assert values(translator_shape(plan("cpu")))["model.encoder_layers"] == 2
