"""What the pipelines of all models with a head share."""

import numpy as np
import pytest

from head_bundles import TEXTS, head_bundle
from regard.errors import DataError
from regard.progress import SILENT
from regard.tasks.finetune.pipeline import (
    BATCH_TOKENS,
    HeadPipeline,
    TextPipeline,
    as_texts,
    check_count,
    check_texts,
    encode_rows,
    template_of,
)


def test_a_text_or_a_pair_is_a_tuple_of_texts():
    assert as_texts("a", "line 1") == ("a",) and as_texts(("a", "b"), "") == as_texts(["a", "b"], "") == ("a", "b")


@pytest.mark.parametrize("given", [None, 3.5, ("a", None), ["a", 1], {"a": "b"}])
def test_anything_else_is_refused(given):
    with pytest.raises(DataError) as error:
        as_texts(given, "line 3")
    assert str(error.value) == f"line 3 is {given!r} and not text; leave it out, or give it as text."


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (("a", " \n"), "line 2 is empty; give some text."),
        (("\udc80",), "line 2 is not UTF-8 text; convert it first."),
    ],
)
def test_texts_without_content_are_refused(texts, sentence):
    check_texts(("a", "b"), "line 2")
    with pytest.raises(DataError) as error:
        check_texts(texts, "line 2")
    assert str(error.value) == sentence


def test_the_number_of_texts_must_be_that_of_the_model():
    check_count(("a", "b"), 2, "line 1")
    for given, wanted, sentence in (
        (("a", "b"), 1, "line 1: this model takes one text, but 2 were given."),
        (("a",), 2, "line 1: this model takes text pairs, but 1 were given."),
    ):
        with pytest.raises(DataError) as error:
            check_count(given, wanted, "line 1")
        assert str(error.value) == sentence


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
    pipeline = HeadPipeline(head_bundle("classify", columns={"text_column": "Review"}))
    assert pipeline.max_length == 40 and pipeline.columns == {"text_column": "Review"} and pipeline.mix is None
    assert pipeline.config["labels"] == ["a", "b", "c"] and pipeline.config["model"]["width"] == 16
    assert pipeline.batch_tokens == BATCH_TOKENS["cpu"]


def test_head_outputs_come_in_order_with_the_texts_as_given():
    pipeline = TextPipeline(head_bundle("classify"))
    given = [f" {TEXTS[0]}", "film " * 60, TEXTS[2]]
    rows = list(pipeline._predict(given, [1, 2, 3], progress=SILENT))
    assert [texts for texts, _, _ in rows] == [(text,) for text in given]
    assert [is_truncated for *_, is_truncated in rows] == [False, True, False] and pipeline.texts == 1
    for text, (_, scores, _) in zip(given, rows, strict=True):
        ((_, alone, _),) = pipeline._predict([text], [1], progress=SILENT)
        np.testing.assert_allclose(scores, alone, atol=1e-5)
