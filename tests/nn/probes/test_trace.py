import numpy as np
import pytest

from regard.errors import ConfigError
from regard.nn.probes.trace import Trace


def trace_of(*names):
    return Trace({}, {name: np.full((2, 3, 3), number, np.float32) for number, name in enumerate(names)})


def test_layers_come_in_order_whatever_the_order_of_recording():
    trace = trace_of(*(f"blocks.{number}.attention.weights" for number in (10, 2, 0, 1)), "embedded")
    assert trace.names("decoder", "self") == [f"blocks.{number}.attention.weights" for number in (0, 1, 2)]
    assert trace.layers("encoder", "self") == 3


def test_attention_is_found_per_block_or_once_for_a_recurrent_decoder():
    trace = trace_of("encoder.blocks.0.attention.weights", "decoder.blocks.0.cross.weights")
    assert trace.layers("encoder", "self") == trace.layers("decoder", "cross") == 1
    assert trace.layers("decoder", "self") == 0
    recurrent = trace_of("decoder.cross.weights")
    assert (recurrent.attention("decoder", "cross") == 0).all()


def test_layers_count_from_either_end_and_others_are_refused():
    trace = trace_of("blocks.0.attention.weights", "blocks.1.attention.weights")
    assert trace.attention("decoder", "self", 0)[0, 0, 0] == trace.attention("decoder", "self", -2)[0, 0, 0] == 0
    assert trace.attention("decoder", "self")[0, 0, 0] == 1
    for layer in (2, -3):
        with pytest.raises(ConfigError) as error:
            trace.attention("decoder", "self", layer)
        assert str(error.value) == (
            f"layer: {layer} is out of range, this model has 2 decoder layers with self attention."
        )


def test_an_attention_that_no_model_has_is_refused_with_the_choices():
    with pytest.raises(ConfigError) as error:
        trace_of().attention("encoder", "cross")
    assert str(error.value) == (
        'attention: there is no "encoder" "cross"; choose from "encoder" "self", "decoder" "self", "decoder" "cross".'
    )
