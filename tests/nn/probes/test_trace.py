"""Traces: kinds and layers of attention, the tokens of both axes, and a short repr."""

import numpy as np
import pytest

from regard.errors import ConfigError
from regard.nn.probes.trace import Trace


def trace_of(*names, tokens=None):
    arrays = {name: np.full((2, 3, 3), number, np.float32) for number, name in enumerate(names)}
    return Trace(tokens or {}, arrays)


def test_layers_come_in_order_whatever_the_order_of_recording():
    trace = trace_of(*(f"blocks.{number}.attention.weights" for number in (10, 2, 0, 1)), "embedded")
    assert trace.names("self") == [f"blocks.{number}.attention.weights" for number in (0, 1, 2)]
    assert trace.layers("self") == 3 and trace.kinds == ("self",)


def test_attention_is_found_per_block_or_once_for_a_recurrent_decoder():
    trace = trace_of("encoder.blocks.0.attention.weights", "decoder.blocks.0.cross.weights")
    assert trace.kinds == ("cross", "encoder") and trace.layers("decoder") == 0
    assert (trace_of("decoder.cross.weights").attention("cross") == 0).all()


def test_layers_count_from_either_end_and_others_are_refused():
    trace = trace_of("blocks.0.attention.weights", "blocks.1.attention.weights")
    assert trace.attention("self", 0)[0, 0, 0] == trace.attention("self", -2)[0, 0, 0] == 0
    assert trace.attention()[0, 0, 0] == 1 and trace.layer("self", -1).layer == 1
    for layer in (2, -3):
        with pytest.raises(ConfigError) as error:
            trace.attention("self", layer)
        assert str(error.value) == f"layer: {layer} is out of range, this model has 2 layers with self attention."


@pytest.mark.parametrize(
    ("names", "kind", "sentence"),
    [
        (["blocks.0.attention.weights"], "both", 'there is no "both"; choose from cross, encoder, decoder, self.'),
        (["blocks.0.attention.weights"], "cross", "this model has no cross attention; it has self."),
        (["hidden.0"], None, "this model has none; give a Transformer, a GPT, a BERT or the like."),
    ],
)
def test_an_attention_that_a_model_lacks_is_refused_with_the_choices(names, kind, sentence):
    with pytest.raises(ConfigError) as error:
        trace_of(*names).attention(kind)
    assert str(error.value) == f"attention: {sentence}"


def test_rows_of_a_decoder_are_the_tokens_predicted():
    tokens = {"source": ["Der", "Hund", "</s>"], "target": ["the", "dog", "</s>"], "input": ["<s>", "the", "dog"]}
    names = [f"{part}.weights" for part in ("decoder.blocks.0.cross", "decoder.blocks.0.attention")]
    trace = trace_of(*names, "encoder.blocks.0.attention.weights", tokens=tokens)
    axes = {kind: (trace.layer(kind).queries, trace.layer(kind).keys) for kind in trace.kinds}
    source, target, read = tokens.values()
    assert axes == {"cross": (target, source), "encoder": (source, source), "decoder": (target, read)}
    masked = trace_of(*names, tokens={"source": source, "target": target})
    assert masked.layer("decoder").keys == target
    text = trace_of("blocks.0.attention.weights", tokens={"text": source})
    assert text.layer().queries == text.layer().keys == source


def test_the_repr_is_short():
    trace = trace_of("blocks.0.attention.weights", tokens={"text": ["a", "b"]})
    assert repr(trace) == "Trace(text 2 tokens; attention: self 1 layers)"
    assert repr(trace_of("hidden", tokens={"text": ["a"]})) == "Trace(text 1 tokens; 1 arrays)"


def test_a_plot_has_titles_a_color_bar_and_readable_tokens(tmp_path):
    tokens = {"source": ["▁Der", "▁Hund", "</s>"], "target": ["▁the", "▁dog", "</s>"]}
    trace = trace_of("decoder.cross.weights", tokens=tokens)
    figure = trace.plot(head=1, path=tmp_path / "a.png")
    panel, bar = figure.axes
    assert (panel.get_ylabel(), panel.get_xlabel()) == ("token predicted", "source token attended to")
    assert [tick.get_text() for tick in panel.get_yticklabels()] == ["the", "dog", "</s>"]
    assert bar.get_ylabel() == "attention weight" and panel.get_title(loc="left") == "cross, layer 0, head 1"
    assert (tmp_path / "a.png").stat().st_size > 5000
