"""Words out of letters, and two directions over them."""

from itertools import pairwise

import pytest
import torch
from torch.testing import assert_close

from regard.errors import ConfigError
from regard.models.base.settings import Vocabularies
from regard.models.elmo.model import Elmo, ElmoSettings
from regard.models.families import build_model, count_parameters
from regard.models.presets import preset
from regard.nn.layers.char_cnn import CHARACTERS
from regard.nn.layers.recurrent import RecurrentLayer
from regard.text.char_tokenizer import spelling_tokenizer

TOKENIZER = spelling_tokenizer()
SMALL = {"width": 8, "cell_width": 12, "filters": ((1, 4), (3, 6)), "highways": 1, "longest_word": 12}


def elmo(**changes):
    torch.manual_seed(0)
    return Elmo(ElmoSettings(**(SMALL | changes)), Vocabularies(TOKENIZER.size, 30, is_shared=False)).eval()


def packed(*texts):
    rows = [[TOKENIZER.bos_id, *TOKENIZER.encode(text).ids, TOKENIZER.eos_id] for text in texts]
    bounds = torch.tensor([0, *(len(row) for row in rows)]).cumsum(0).int()
    return torch.tensor([number for row in rows for number in row]), bounds


def halves(model, text, layer):
    """Return what each direction knows of the words of a text."""
    return model.layers(*packed(text)).states[layer][0].chunk(2, -1)


@pytest.mark.parametrize("layer", [1, 2])
def test_the_forward_direction_never_sees_the_future_and_the_backward_one_never_the_past(layer):
    model = elmo()
    one, other = ("the old man saw a bird", "the old man ate an egg")  # words 0 to 3 are alike, with <s>
    (ahead, back), (ahead_2, back_2) = halves(model, one, layer), halves(model, other, layer)
    assert_close(ahead[:4], ahead_2[:4])
    assert (ahead[4:] - ahead_2[4:]).abs().amax(1).min() > 1e-4  # and it does see the past
    assert (back[:4] - back_2[:4]).abs().amax(1).min() > 1e-4
    (ahead, back), (ahead_2, back_2) = (
        halves(model, "the old man saw it", layer),
        halves(model, "a dog saw it", layer),
    )
    assert_close(back[-3:], back_2[-3:])
    assert (ahead[-3:] - ahead_2[-3:]).abs().amax(1).min() > 1e-4


def test_the_word_before_the_first_layer_knows_its_letters_alone():
    states = elmo().layers(*packed("a bank lends", "the bank of it")).states[0]
    assert_close(states[0, 2], states[1, 2])


def test_padding_and_the_company_of_others_change_nothing():
    model, texts = elmo(), ("A bank lends.", "the river, the old bank, and internationalisation", "x")
    together = model.hidden_states_varlen(*packed(*texts)[:1], None, None, packed(*texts)[1], 0)
    alone = torch.cat([model.hidden_states(packed(text)[0][None])[0] for text in texts])
    assert_close(together, alone, atol=1e-6, rtol=1e-5)
    tokens, bounds = packed(*texts)
    rows = [tokens[begin:end] for begin, end in pairwise(bounds)]
    padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    token_mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row).bool() for row in rows], batch_first=True)
    assert_close(model.hidden_states(padded, None, token_mask)[token_mask], alone, atol=1e-6, rtol=1e-5)


def test_a_projected_lstm_by_its_equations_is_the_fused_one():
    torch.manual_seed(0)
    layer, x = RecurrentLayer("lstm", 3, 7, 4), torch.randn(2, 5, 3)
    outputs, (h, cell) = layer(x)
    by_steps, (h_2, cell_2) = layer.steps(x)
    assert outputs.shape == (2, 5, 4) and cell.shape == (2, 7)
    assert_close((outputs, h, cell), (by_steps, h_2, cell_2))
    assert_close(layer(x[:, 2:], layer(x[:, :2])[1])[0], outputs[:, 2:])


def counted(width, cell, filters, highways, characters=16):
    """Return the parameters of an ELMo by the equations of the paper, the words it says left out."""
    found = sum(count for _, count in filters)
    convolutions = sum(characters * size * count + count for size, count in filters)
    highway = highways * (found * 2 * found + 2 * found)
    # torch adds a second bias to the gates of each LSTM.
    lstm = 4 * cell * (width + width) + 2 * 4 * cell + cell * width
    return CHARACTERS * characters + convolutions + highway + found * width + width + 2 * 2 * lstm


@pytest.mark.parametrize("name, millions", [("elmo-tiny", None), ("elmo-small", 13.6), ("elmo", 93.6)])
def test_parameters_by_formula_and_as_published(name, millions):
    settings = ElmoSettings(**preset(name).settings)
    words = 793_471
    found = count_parameters(settings, Vocabularies(260, words, is_shared=False))
    by_formula = counted(settings.width, settings.cell_width, settings.filters, settings.highways)
    assert found == by_formula + words * (settings.width + 1)
    second_biases = 4 * 4 * settings.cell_width
    assert millions is None or round((by_formula - second_biases) / 1e6, 1) == millions


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"cell_width": 8}, "cell_width: 8 is not wider than the 8 (width) it is projected to; raise it."),
        ({"filters": ((13, 2),)}, "filters: [13, 2] is no filter"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(changes, words):
    from regard.config.resolve import Layer, resolve

    with pytest.raises(ConfigError) as caught:
        resolve(ElmoSettings, [Layer("the test", SMALL | changes)])
    assert words in str(caught.value)


def test_all_of_it_learns():
    model = build_model(ElmoSettings(**SMALL), Vocabularies(TOKENIZER.size, 30, is_shared=False))
    ahead, back = model(*packed("a bird in the hand", "no"))
    (ahead.logsumexp(-1).sum() + back.logsumexp(-1).sum()).backward()
    assert all(each.grad is not None and each.grad.abs().sum() > 0 for each in model.parameters())
