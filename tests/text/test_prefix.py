import itertools

import pytest

from regard.errors import DataError
from regard.text.prefix import exact_prefix, prefix_ids, prefix_of
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

TEXTS = [
    "Das ist ein Haus.",
    "Das ist die Donaudampfschifffahrt, ja!",
    "Der Dampfer ist im Hafen.",
    "Es isst immer Inseln.",
    "Insel, im Haus: isst ein Donaudampfer?",
] * 8
KINDS = {
    "bpe": {"size": 90},
    "bytes": {"size": 330, "pretokenizer": "byte-level"},
    "unigram": {"size": 80, "kind": "unigram"},
    "wordpiece": {"size": 120, "kind": "wordpiece"},
    "word": {"size": 60, "kind": "word"},
    "char": {"size": 60, "kind": "char"},
}


@pytest.fixture(scope="module")
def tokenizers():
    return {name: train_tokenizer(TEXTS, TokenizerSettings(**changes)) for name, changes in KINDS.items()}


def ways(prefix, tokenizer, limit=400):
    """Follow the choices to where everything is free, all ways or some hundred of them."""
    found, open_ways = [], [[]]
    while open_ways and len(found) < limit:
        said = open_ways.pop()
        choices = prefix.choices_after(said)
        if choices is None:
            found.append(said)
        else:
            open_ways += [[*said, token] for token in choices]
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["Das ist", "Das", "Das ist ein Haus.", "Das ist ", "Das i", "Es isst immer Ins"])
def test_every_way_to_begin_says_the_prefix_to_the_letter(tokenizers, kind, text):
    tokenizer = tokenizers[kind]
    free = list(tokenizer.vocabulary)
    found = ways(prefix_of(tokenizer, text), tokenizer)
    assert found
    for said in found:
        for following in itertools.islice(free, 0, None, 7):
            assert tokenizer.decode([*said, following]).startswith(text), (said, following)
        assert tokenizer.eos_id not in said and tokenizer.unk_id not in said


@pytest.mark.parametrize("kind", KINDS)
def test_the_usual_pieces_are_one_of_the_ways(tokenizers, kind):
    tokenizer = tokenizers[kind]
    for text in ("Das ist", "Das ist ein Haus"):
        ids = tokenizer.encode(text).ids
        assert ids in ways(prefix_of(tokenizer, text), tokenizer)
        assert prefix_ids(tokenizer, text) == (ids, None)


def test_a_word_that_is_unfinished_may_be_finished_by_a_longer_piece(tokenizers):
    tokenizer = tokenizers["word"]
    found = {tokenizer.decode(said) for said in ways(prefix_of(tokenizer, "Das i"), tokenizer)}
    assert found == {"Das ist", "Das isst", "Das im", "Das immer"}
    # ... but not by pieces that cut the word at other places than the tokenizer does.
    tokenizer = tokenizers["bpe"]
    own = tokenizer.encode("Das ist").ids
    last = [said[len(own) - 1 :] for said in ways(prefix_of(tokenizer, "Das ist"), tokenizer)]
    assert all(said == own[-1:] or tokenizer.decode(said).startswith("ist") for said in last)


@pytest.mark.parametrize("kind", ["bpe", "unigram", "word", "wordpiece"])
def test_after_a_space_a_new_word_begins(tokenizers, kind):
    tokenizer = tokenizers[kind]
    ids, followers = prefix_ids(tokenizer, "Das ist ")
    assert ids == tokenizer.encode("Das ist").ids
    assert followers and all(tokenizer.decode([*ids, token]).startswith("Das ist ") for token in followers)


def test_exact_prefixes_leave_no_choice():
    prefix = exact_prefix([5, 6])
    assert [list(prefix.choices_after(said)) for said in ([], [5])] == [[5], [6]]
    assert prefix.choices_after([5, 6]) is None and prefix.choices_after([5, 6, 9]) is None


def test_what_cannot_be_said_is_told(tokenizers):
    cases = {
        ("bpe", "Das  ist"): 'prefix: "Das  ist" cannot be generated exactly, this model would generate "Das ist".',
        ("bpe", "日本 ist"): 'prefix: "日本 ist" cannot be generated exactly, this model would generate "⁇ ist".',
        ("word", "Das xyz"): 'prefix: no token of this model begins with the "xyz" of "Das xyz"; choose other words.',
        (
            "wordpiece",
            "Das ist ,",
        ): 'prefix: "Das ist ," cannot be generated exactly, this model would generate "Das ist,".',
        ("bpe", " "): "prefix: it is empty; give the words the output should begin with.",
    }
    for (kind, text), expected in cases.items():
        with pytest.raises(DataError) as error:
            prefix_of(tokenizers[kind], text)
        assert str(error.value) == expected
    with pytest.raises(DataError, match="cannot be generated exactly"):
        prefix_ids(tokenizers["word"], "Das i")
    low = train_tokenizer(TEXTS, TokenizerSettings(size=90, lowercase=True))
    with pytest.raises(
        DataError, match='prefix: "Das ist" cannot be generated exactly, this model would generate "das ist".'
    ):
        prefix_of(low, "Das ist")
