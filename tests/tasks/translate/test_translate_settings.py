"""Settings of translation runs: beam search or mask-predict by the model's family, and contradictions."""

import pytest

from regard.errors import ConfigError
from regard.models.recurrent.seq2seq import RecurrentSettings
from regard.models.transformer.mask_predict import MaskPredictSettings
from regard.models.transformer.model import TransformerSettings
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.translate.schema import translate_settings
from regard.tasks.translate.settings import MaskedTranslateSettings, TranslateSettings

DATA = {"data.train": {"source": "a", "target": "b"}}


@pytest.mark.parametrize(
    ("model", "base"),
    [
        (TransformerSettings, TranslateSettings),
        (RecurrentSettings, TranslateSettings),
        (MaskPredictSettings, MaskedTranslateSettings),
    ],
)
def test_the_schema_follows_from_the_family(model, base):
    schema = translate_settings(model)
    assert issubclass(schema, base) and schema.model_fields["model"].annotation is model
    assert schema.model_fields["decode"].default == base.model_fields["decode"].default


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"train.select_by": "bleu", "validation.bleu_sentences": 0},
            'train.select_by: "bleu" needs sentences to translate; raise validation.bleu_sentences.',
        ),
        (
            {"model.embeddings": "shared", "text.vocabularies": "separate"},
            'model.embeddings: "shared" needs one vocabulary for both languages; set text.vocabularies=shared, or '
            'model.embeddings="target".',
        ),
        ({"train.select_by": "accuracy"}, 'train.select_by: "accuracy" is for classifiers'),
    ],
)
def test_contradictions_are_one_sentence(changes, sentence):
    with pytest.raises(ConfigError) as error:
        resolve_run(find_recipe("translate"), DATA | changes)
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_a_trial_translates_nothing():
    settings = resolve_run(find_recipe("translate"), DATA | {"train.select_by": "bleu"}).settings
    trial = resolve_run(find_recipe("translate"), DATA | settings.shortened(6)).settings
    assert trial.validation.bleu_sentences == 0 and trial.train.select_by == "loss" and trial.train.steps == 6
