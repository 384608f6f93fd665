import pytest

from regard.errors import ConfigError
from regard.studio.views.heads import (
    FieldsRequest,
    FillRequest,
    NextSentenceRequest,
    PredictRequest,
    show_fields,
    show_fill,
    show_next_sentence,
    show_prediction,
)

ROWS = {
    "classify": {"text": "a good long book"},
    "regress": {"text": "a good book", "second": "a bad book"},
    "tag": {"text": "Anna lives in Berlin."},
    "answer": {"question": "Where is Anna?", "context": "Anna is in the garden."},
    "choose": {"context": "a good film"},
}


def test_candidates_are_those_of_the_pipeline(pipeline_of):
    encoder, text = pipeline_of("masked-language-model"), "Anna [MASK] the [MASK]."
    view, expected = show_fill(encoder, FillRequest(model="m", text=text, top=3)), encoder.fill(text, top=3)
    assert [[each.id for each in mask] for mask in view.masks] == [[e.id for e in mask] for mask in expected.masks]
    assert view.masks[0][0].probability == expected.masks[0][0].probability and view.filled == expected.filled


def test_the_next_sentence_has_a_probability_where_there_is_a_head(pipeline_of):
    asked = NextSentenceRequest(model="m", first="Anna has a dog.", second="It sleeps.")
    value = show_next_sentence(pipeline_of("masked-language-model"), asked).probability
    assert value is not None and 0 < value < 1
    assert show_next_sentence(pipeline_of("classify"), asked).probability is None


@pytest.mark.parametrize("name", ROWS)
def test_outputs_are_those_of_the_pipeline_with_the_influence_of_each_word(pipeline_of, name):
    pipeline, fields = pipeline_of(name), ROWS[name]
    choices = ("good", "bad") if name == "choose" else ()
    view = show_prediction(pipeline, PredictRequest(model="m", fields=fields, choices=choices))
    row = {**fields, **({"choices": list(choices)} if choices else {})}
    (expected,) = pipeline([row])
    assert view.output == expected.text
    if name == "tag":
        assert [each.tag for each in view.words] == list(expected.tags) and not view.influence
        return
    words = [(each.field, each.word) for each in view.influence]
    assert words == [(field, word) for field, text in fields.items() for word in text.split()]
    if name == "classify":
        (without,) = pipeline([{"text": "a good long "}])
        assert view.influence[-1].influence == pytest.approx(
            view.value - without.probabilities[view.output], abs=1e-6
        )


def test_fields_say_what_a_model_takes(pipeline_of):
    fields = show_fields(pipeline_of("masked-language-model"), FieldsRequest(model="m"))
    assert fields.fills and fields.has_next_sentence
    assert show_fields(pipeline_of("answer"), FieldsRequest(model="m")).fields == ["question", "context"]
    with pytest.raises(ConfigError, match="neither masks nor a head"):
        show_fields(pipeline_of("vectors"), FieldsRequest(model="m"))
    with pytest.raises(ConfigError, match="fills no masks"):
        show_fill(pipeline_of("vectors"), FillRequest(model="m", text="[MASK]"))
