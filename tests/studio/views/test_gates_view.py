import numpy as np
import pytest

from generators import language_bundle, tokenizer_of
from regard.errors import ConfigError
from regard.studio.views.gates import GatesRequest, show_gates
from regard.tasks.language_model.pipeline import Generator


@pytest.mark.parametrize(
    ("name", "gates"), [("lstm", ["i", "f", "C~", "o", "cell", "hidden"]), ("gru", ["r", "z", "n", "hidden"])]
)
def test_a_recurrent_language_model_is_unrolled_over_its_tokens(name, gates):
    generator = Generator(language_bundle(tokenizer_of(), name))
    view = show_gates(generator, GatesRequest(model="m", text="Anna has a dog."))
    tokens = ["end of text", *generator.tokenizer.encode("Anna has a dog.").tokens]
    for layer in view.layers:
        assert [each.name for each in layer.gates] == gates and layer.cell == name
        assert len(layer.tokens) == len(tokens)
        for gate in layer.gates:
            assert gate.values.shape[0] == len(tokens)
            assert np.allclose(gate.values.array.mean(1), gate.means, atol=1e-5)


def test_an_elmo_reads_to_the_left_and_to_the_right(pipeline_of):
    view = show_gates(pipeline_of("elmo"), GatesRequest(model="m", text="the dog, it sleeps"))
    assert {tuple(each.tokens) for each in view.layers} == {("<s>", "the", "dog", ",", "it", "sleeps", "</s>")}
    assert all(gate.values.shape[0] == 7 for each in view.layers for gate in each.gates)
    assert len(view.layers) >= 2 and all(each.cell == "lstm" for each in view.layers)


def test_a_text_too_long_for_a_picture_is_refused():
    generator = Generator(language_bundle(tokenizer_of(), "gru"))
    with pytest.raises(ConfigError, match="tokens are more than the 2,048 of one picture"):
        show_gates(generator, GatesRequest(model="m", text="a b c " * 1000))


def test_a_transformer_has_no_gates(translator):
    assert show_gates(translator, GatesRequest(model="m", text="Ja.")).layers == []
