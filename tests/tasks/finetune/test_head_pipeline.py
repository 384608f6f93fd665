"""What the pipelines of all models with a head share."""

import pytest

from head_bundles import TEXTS, head_bundle
from regard.errors import DataError
from regard.pipelines.inputs import TextRow
from regard.tasks.classify.pipeline import Classifier
from regard.tasks.finetune.pipeline import BATCH_TOKENS, encode_rows, template_of


@pytest.mark.parametrize(("pooling", "pools_all"), [("token", False), ("mean", True), ("max", True)])
def test_rows_are_encoded_for_the_pooling_of_the_head(pooling, pools_all):
    bundle = head_bundle("classify", pooling=pooling)
    encoded = encode_rows(bundle, [(TEXTS[0],), ("film " * 60,)], [0, 2])
    assert encoded.uses_pooling == pools_all and encoded.labels.tolist() == [0, 2]
    assert encoded.is_truncated.tolist() == [False, True] and int(encoded.sequences.lengths.max()) == 40


def test_sequences_have_the_special_tokens_of_the_model():
    assert template_of(head_bundle("classify")).is_for_encoder
    assert not template_of(head_bundle("classify", family="gpt")).is_for_encoder


def test_a_pipeline_has_the_facts_and_settings_of_its_model():
    pipeline = Classifier(head_bundle("classify", columns={"text_column": "Review"}))
    assert pipeline.max_length == 40 and pipeline.columns == {"text_column": "Review"} and pipeline.mix is None
    assert pipeline.config["labels"] == ["a", "b", "c"] and pipeline.config["model"]["width"] == 16
    assert pipeline.batch_tokens == BATCH_TOKENS["cpu"]


def test_the_number_of_texts_must_be_that_of_the_model():
    for texts, row, sentence in (
        (1, TextRow("a", "b"), "line 1: this model takes one text, but 2 were given."),
        (2, TextRow("a"), "line 1: this model takes text pairs, but 1 were given."),
    ):
        pipeline = Classifier(head_bundle("classify", texts=texts))
        with pytest.raises(DataError) as error:
            pipeline.check(row, pipeline.options(), "line 1")
        assert str(error.value) == sentence
