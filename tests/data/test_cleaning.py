import random

import pytest

from regard.data.cleaning import CleaningReport, clean, hold_out, hold_out_pairs
from regard.data.settings.pairs import CleaningSettings
from regard.data.sources.pair import Pair
from regard.errors import DataError


def cleaned(pairs, **changes):
    report = CleaningReport()
    return clean([Pair(*pair) for pair in pairs], CleaningSettings(**changes), report), report


def test_every_dropped_pair_is_counted_by_its_reason():
    pairs = [("a b", "x y"), ("", "x"), ("a", "  "), ("a b", "x y"), ("short", "y" * 200), ("c", "z")]
    kept, report = cleaned(pairs)
    assert kept == [("a b", "x y"), ("c", "z")]
    assert report.dropped == {"empty": 2, "duplicate": 1, "absurd length ratio": 1}
    assert report.sentence() == "2 of 6 pairs kept; dropped: 2 empty, 1 duplicate, 1 absurd length ratio."


def test_white_space_around_a_line_is_no_part_of_it():
    kept, _ = cleaned([("  a b \r", "\tx y ")])
    assert kept == [("a b", "x y")]


def test_duplicates_may_stay():
    kept, report = cleaned([("a", "x")] * 3, drop_duplicates=False)
    assert len(kept) == 3 and not report.dropped


def test_short_pairs_are_forgiven_their_ratio():
    kept, _ = cleaned([("Ja", "Yes, that is so")])
    assert len(kept) == 1


def pairs_of(count):
    return [Pair(f"Satz {number}", f"Sentence {number}") for number in range(count)]


def test_validation_is_carved_the_same_way_whatever_the_order():
    pairs = pairs_of(3000)
    train, valid = hold_out_pairs(pairs, 0.1)
    shuffled = pairs.copy()
    random.Random(1).shuffle(shuffled)
    assert set(hold_out_pairs(shuffled, 0.1)[1]) == set(valid)
    assert set(train) | set(valid) == set(pairs) and not set(train) & set(valid)
    assert 250 < len(valid) < 350


def test_a_sentence_keeps_its_side_when_the_file_grows():
    first = set(hold_out_pairs(pairs_of(1000), 0.1)[1])
    assert first <= set(hold_out_pairs(pairs_of(3000), 0.1)[1])


def test_translations_of_one_source_never_straddle_the_line():
    pairs = [Pair(f"Satz {number % 50}", f"Sentence {number}") for number in range(500)]
    train, valid = hold_out_pairs(pairs, 0.2)
    assert not {pair.source for pair in train} & {pair.source for pair in valid}


def test_validation_stays_small_and_is_never_empty():
    assert len(hold_out_pairs(pairs_of(60_000), 0.5)[1]) < 2300
    train, valid = hold_out_pairs(pairs_of(3), 0.02)
    assert len(train) == 2 and len(valid) == 1


def test_examples_of_one_text_cannot_be_parted():
    with pytest.raises(DataError) as error:
        hold_out(["a"] * 3, 0.1, str, what="question", origin="a.json")
    assert str(error.value) == (
        "a.json: all 3 training questions have the same text, so none can be held out for validation; add others."
    )
    with pytest.raises(DataError, match="a.json: only 1 usable training question: too few"):
        hold_out(["a"], 0.1, str, what="question", origin="a.json")


def test_one_pair_is_too_few():
    with pytest.raises(DataError) as error:
        hold_out_pairs(pairs_of(1), 0.02)
    assert str(error.value) == (
        "Only 1 usable training pair: too few to train on and hold some out for validation; add text."
    )


def test_pairs_with_one_source_are_called_that():
    with pytest.raises(DataError) as raised:
        hold_out_pairs([Pair("a", str(number)) for number in range(5)], 0.1)
    assert str(raised.value) == (
        "All 5 training pairs have the same source, so none can be held out for validation; add others."
    )
    with pytest.raises(DataError, match=r"^There are no pairs to learn from; add some\.$"):
        hold_out_pairs([], 0.1)


def test_something_is_left_to_learn_from_wherever_two_texts_differ():
    for number in range(300):
        train, valid = hold_out_pairs([Pair(f"a{number}", "x"), Pair(f"b{number}", "x")], 0.5)
        assert len(train) == len(valid) == 1
