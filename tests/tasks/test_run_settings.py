"""Settings that all runs have in common, and their contradictions."""

import pytest

from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.settings import (
    EmbeddingInitSettings,
    check_embedding_init,
    check_select_by,
    check_tokenizer_settings,
)
from regard.text.settings import TextSettings


def test_a_trial_is_short_and_selects_nothing():
    settings = resolve_run(find_recipe("translate-miniature"), {"train.warmup": 400}).settings
    short = settings.shortened(12)
    assert short["train.steps"] == 12 and short["train.warmup"] == 6 and short["train.validate_every"] == 4
    assert short["train.epochs"] is None and short["train.select_by"] == "loss" and short["train.patience"] == 0
    assert short["validation.bleu_sentences"] == 0
    trial = resolve_run(find_recipe("translate-miniature"), short).settings
    assert trial.train.steps == 12 and trial.train.epochs is None
    assert settings.shortened(1)["train.validate_every"] == 1


def test_checkpoints_are_selected_by_a_metric_of_their_task():
    check_select_by("translate", "bleu")
    check_select_by("classify", "accuracy")
    check_select_by("vectors", "loss")
    with pytest.raises(ValueError) as error:
        check_select_by("language-model", "bleu")
    assert str(error.value) == 'train.select_by: "bleu" is for translators; choose one of loss.'
    with pytest.raises(ValueError) as error:
        check_select_by("translate", "beauty")
    assert str(error.value) == 'train.select_by: "beauty" is not one of loss, bleu.'


def test_no_metric_whose_best_value_is_the_smallest_selects_checkpoints():
    with pytest.raises(ValueError, match=r'^train\.select_by: "ter" is not one of loss, bleu\.$'):
        check_select_by("translate", "ter")


def test_a_pretrained_model_brings_its_tokenizer():
    check_tokenizer_settings(None, TextSettings(size=300))
    check_tokenizer_settings("first", TextSettings())
    check_tokenizer_settings("first", TextSettings(dropout=0.2, target_dropout=0.0))
    with pytest.raises(ValueError) as error:
        check_tokenizer_settings("first", TextSettings(dropout=0.2, size=300))
    assert str(error.value) == 'text.size: the tokenizer comes from the pretrained model "first"; leave this out.'


def test_a_pretrained_model_brings_its_embedding_matrix():
    check_embedding_init("first", EmbeddingInitSettings())
    check_embedding_init(None, EmbeddingInitSettings(path="glove.txt"))
    with pytest.raises(ValueError) as error:
        check_embedding_init("first", EmbeddingInitSettings(path="glove.txt"))
    assert str(error.value) == (
        'vectors.path: the embedding matrix comes from the pretrained model "first"; leave out one of both.'
    )
