import pytest
import torch
from torch.testing import assert_close

from language import small_language_model
from regard.errors import ConfigError
from regard.inspection.hidden_states import read_layers
from regard.models.bert import BertSettings
from small import random_tokens, sources


def small_bert(**changes):
    sizes = {"width": 16, "heads": 4, "feed_forward_width": 32, "layers": 2, "max_positions": 16}
    return small_language_model(BertSettings(**(sizes | changes)))


@pytest.mark.parametrize("order", ["post", "pre"])
def test_layers_are_the_embeddings_each_block_and_the_output(order):
    model, tokens = small_bert(norm_order=order), random_tokens(2, 5)
    embedded, first, last = read_layers(model, [0, 1, -1], tokens)
    with torch.no_grad():
        positions = torch.arange(5)
        assert_close(embedded, model.embedding(tokens, None, positions))
        assert_close(last, model.hidden_states(tokens))
    assert (first - embedded).abs().max() > 1e-3 and (first - last).abs().max() > 1e-3


def test_layers_come_in_the_order_asked_for_and_may_repeat():
    model, tokens = small_bert(), random_tokens(1, 4)
    layers = read_layers(model, [2, 0, -1, 0, -2], tokens)
    assert torch.equal(layers[0], layers[2]) and torch.equal(layers[1], layers[3])
    assert torch.equal(layers[4], read_layers(model, [1], tokens)[0])


def test_padding_changes_no_layer():
    model = small_bert()
    tokens, token_mask = sources([6, 2])
    for together, alone in zip(
        read_layers(model, [0, 1, 2], tokens, None, token_mask), read_layers(model, [0, 1, 2], tokens[1:, :2])
    ):
        assert_close(together[1:, :2], alone, atol=1e-9, rtol=0)


@pytest.mark.parametrize("layer", [3, -4])
def test_a_layer_that_the_model_does_not_have_is_refused(layer):
    with pytest.raises(ConfigError) as error:
        read_layers(small_bert(), [layer], random_tokens(1, 3))
    assert str(error.value) == (
        f"layer: {layer} is out of range; this model has embeddings (0) and 2 blocks (1 to 2, or -1 for the last)."
    )
