import torch
from torch.testing import assert_close

from regard.nn.layers.char_cnn import BEGIN, END, CharCnn, Highway, spell
from regard.text.char_tokenizer import spelling_tokenizer

TOKENIZER = spelling_tokenizer()


def encoded(text):
    return torch.tensor([TOKENIZER.bos_id, *TOKENIZER.encode(text).ids, TOKENIZER.eos_id])


def test_words_are_spelled_between_their_marks_and_long_ones_are_truncated():
    tokens = encoded("No internationalisation")
    characters = spell(tokens, 8).characters
    letters = lambda word: TOKENIZER.encode(word).ids[1:]
    rows = [[TOKENIZER.bos_id], letters("No"), letters("intern"), [TOKENIZER.eos_id]]
    for row, inside in zip(characters.tolist(), rows, strict=True):
        assert row == [BEGIN, *inside, END] + [0] * (6 - len(inside))


def test_more_padding_after_the_characters_changes_no_word():
    torch.manual_seed(0)
    words = CharCnn(4, ((1, 3), (2, 3), (6, 5)), 1, 7)
    characters = spell(encoded("I saw internationalisation"), 40).characters
    assert_close(words(characters), words(torch.nn.functional.pad(characters, (0, 9))))
    assert_close(words(characters)[1], words(characters[1:2, :3])[0])


def test_every_token_has_the_index_of_its_word():
    tokens = encoded("a bcd")  # <s>, space a, space b c d, </s>
    assert spell(tokens, 8).word.tolist() == [0, 1, 1, 2, 2, 2, 2, 3]


def test_a_word_is_the_projected_maximum_over_its_windows():
    torch.manual_seed(0)
    words = CharCnn(4, ((2, 3),), 0, 5)
    characters = spell(encoded("ab"), 40).characters[1]  # BEGIN a b END
    x = words.table(characters).T[None]
    features = words.filters[0](x).amax(2).relu()
    assert_close(words(characters[None]), words.projection(features))


def test_a_closed_gate_carries_the_input_and_an_open_one_replaces_it():
    torch.manual_seed(0)
    highway, x = Highway(6), torch.randn(3, 6)
    with torch.no_grad():
        highway.both.bias[6:] = -50.0
        assert_close(highway(x), x, atol=1e-6, rtol=0)
        highway.both.bias[6:] = 50.0
        assert_close(highway(x), highway.both(x)[:, :6].relu())
