"""Settings of fine-tuning for every family of models."""

import pytest
from pydantic import ValidationError

from regard.models.families import family
from regard.tasks.classify.settings import ClassifySettings
from regard.tasks.finetune.schema import settings_of
from regard.tasks.finetune.settings import TRAIN, TuningTrainSettings
from regard.text.settings import CorpusTextSettings, MaskedTextSettings, WordTextSettings

GIVEN = {"data": {"train": {"path": "a.csv"}}, "model": {"family": "bert"}}


def schema(name: str):
    return settings_of(ClassifySettings, family(name).settings)


@pytest.mark.parametrize(
    ("name", "text"), [("gpt", CorpusTextSettings), ("bert", MaskedTextSettings), ("words", WordTextSettings)]
)
def test_the_default_tokenizer_is_that_of_the_family(name, text):
    assert schema(name).model_fields["text"].default == text() and schema(name) is schema(name)


def test_frozen_extra_vectors_need_extra_vectors():
    settings = schema("bert").model_validate(GIVEN | {"extra_vectors": "a.txt", "freeze_extra_vectors": True})
    assert settings.freeze_extra_vectors
    with pytest.raises(
        ValidationError, match="freeze_extra_vectors: there are no extra word vectors; give some with"
    ):
        schema("bert").model_validate(GIVEN | {"freeze_extra_vectors": True})


def test_a_pretrained_model_brings_its_tokenizer():
    schema("bert").model_validate(GIVEN | {"init_from": "run"})
    with pytest.raises(
        ValidationError, match='text: the tokenizer comes from the pretrained model "run"; leave these'
    ):
        schema("bert").model_validate(GIVEN | {"init_from": "run", "text": {"size": 99}})


@pytest.mark.parametrize(
    "wrong", [{"max_length": 7}, {"bilstm_width": -1}, {"head_dropout": 1.0}, {"pooling": "sum"}]
)
def test_bounds_are_checked(wrong):
    schema("bert").model_validate(GIVEN)
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        schema("bert").model_validate(GIVEN | wrong)


def test_the_defaults_of_fine_tuning_are_settings_of_its_training():
    settings = TuningTrainSettings.model_validate(TRAIN | {"epochs": 3})
    assert settings.epochs == 3 and settings.optimizer == "adamw"
    planned = settings.planned(updates_in_epoch=100)  # 300 updates
    assert (planned.steps, planned.warmup, planned.validate_every) == (300, 30, 30)
