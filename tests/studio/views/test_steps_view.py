import numpy as np
import pytest

from regard.errors import ConfigError
from regard.studio.views.steps import (
    FUNCTIONS,
    ScaledExampleRequest,
    StepsRequest,
    show_scaled_example,
    show_steps,
    source_of,
)

SENTENCE = "Der kleine Hund schläft im Garten."


def stages(view):
    return {each.name: each for each in view.stages}


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_numbers_are_those_of_the_probes(translator, kind):
    trace = translator.inspect(SENTENCE)
    for position in (0, 2):
        asked = StepsRequest(model="m", text=SENTENCE, kind=kind, layer=0, head=3, position=position)
        view = show_steps(translator, asked)
        shown = stages(view)
        expected = trace.attention(kind, 0)[3, position]
        assert np.allclose(shown["weights"].values, expected, atol=1e-5)
        assert len(view.keys) == len(expected)
        K = len(shown["query q"].values)
        assert np.allclose(np.array(shown["scores"].values) / K**0.5, shown["scaled"].values, atol=1e-5)
        assert shown["keys k"].matrix.array @ np.array(shown["query q"].values) == pytest.approx(
            np.array(shown["scores"].values), abs=1e-3
        )
        if kind == "decoder":
            assert shown["masked"].values[position + 1 :] == [None] * (len(expected) - position - 1)


def test_the_last_block_ends_in_the_probabilities_of_the_model(translator):
    text = translator(SENTENCE).text
    layer = translator.model.settings.decoder_layers - 1
    asked = StepsRequest(model="m", text=SENTENCE, target=text, kind="cross", layer=layer, position=1)
    best = show_steps(translator, asked).candidates[0]
    scored = translator.score(SENTENCE, text)
    assert best.probability >= np.exp(scored.log_probabilities[1]) - 1e-5
    assert show_steps(translator, asked.model_copy(update={"kind": "encoder"})).candidates == []


def test_language_models_and_encoders_have_steps(pipeline_of):
    for name in ("language-model", "masked-language-model", "classify"):
        view = show_steps(pipeline_of(name), StepsRequest(model="m", text="the dog sleeps", position=1))
        assert view.kinds == ["self"] and len(stages(view)["weights"].values) == len(view.keys)


def test_a_position_that_is_not_there_is_refused(translator):
    with pytest.raises(ConfigError, match="4 heads and"):
        show_steps(translator, StepsRequest(model="m", text=SENTENCE, position=99))


def test_the_lectures_example_gives_its_numbers():
    view = show_scaled_example(ScaledExampleRequest())
    assert view.root == 8 and view.scaled == [14, 12]
    assert [round(each, 2) for each in view.weights] == [0.88, 0.12]
    with pytest.raises(ConfigError, match="give 1 to 64 scores"):
        show_scaled_example(ScaledExampleRequest(scores=()))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sources_are_where_they_are_said_to_be(name):
    from pathlib import Path

    import regard

    source = source_of(name)
    lines = (Path(regard.__file__).parent.parent / source.file).read_text(encoding="utf-8").splitlines()
    assert lines[source.line - 1] == source.code.splitlines()[0] and name.split(".")[-1] in source.code
