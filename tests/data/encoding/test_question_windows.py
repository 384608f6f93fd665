"""Questions and windows of texts as ids."""

import numpy as np
import pytest

from regard.data.encoding.question_windows import encode_questions, majority_answer
from regard.data.encoding.templates import SequenceTemplate
from regard.data.sources.squad import GoldAnswer, QuestionRow
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

TEXT = "a b c d e f g h i j k l"


@pytest.fixture(scope="module")
def tokenizer():
    settings = TokenizerSettings(kind="wordpiece", special_tokens="bert", size=80, min_frequency=1)
    return train_tokenizer(["a b c d e f g h i j k l x y z"], settings)


def encoded(tokenizer, *questions, limit=40, stride=4):
    return encode_questions(questions, tokenizer, SequenceTemplate.of(tokenizer, is_for_encoder=True), limit, stride)


def asked(answer=None, question="x y", context=TEXT):
    answers = () if answer is None else (GoldAnswer(answer, context.index(answer)),)
    return QuestionRow("1", question, context, answers)


def read(tokenizer, found, row):
    return " ".join(tokenizer.tokens(found.sequences[row].tolist()))


def test_the_question_stands_before_the_text_and_the_answer_is_a_span_of_it(tokenizer):
    found = encoded(tokenizer, asked("d e"))
    assert read(tokenizer, found, 0) == f"[CLS] x y [SEP] {TEXT} [SEP]"
    batch = found.batch(np.array([0]))
    begin, end = batch.labels[0].tolist()
    tokens = batch.reading.tokens[batch.places[0]]
    assert tokenizer.tokens(tokens[begin : end + 1].tolist()) == ["d", "e"]
    assert tokenizer.tokens(tokens.tolist()) == ["[CLS]", *TEXT.split()]
    assert batch.reading.segments.tolist() == [0] * 4 + [1] * 13
    assert not found.is_truncated.any()


def test_without_an_answer_both_ends_are_at_the_first_token(tokenizer):
    assert encoded(tokenizer, asked()).labels.tolist() == [[0, 0]]


def test_long_texts_are_read_in_windows_that_overlap(tokenizer):
    found = encoded(tokenizer, asked("g h"), asked("c", question="z", context="a b c"), limit=11, stride=4)
    windows = [read(tokenizer, found, row) for row in range(len(found))]
    assert windows == [
        "[CLS] x y [SEP] a b c d e f [SEP]",
        "[CLS] x y [SEP] e f g h i j [SEP]",
        "[CLS] x y [SEP] i j k l [SEP]",
        "[CLS] z [SEP] a b c [SEP]",
    ]
    assert found.labels.tolist() == [[0, 0], [3, 4], [0, 0], [3, 3]]
    assert found.owners.tolist() == [0, 0, 0, 1] and found.is_truncated.tolist() == [True, False]
    for row, offsets in enumerate(found.offsets):
        context = (TEXT, "a b c")[found.owners[row]]
        words = windows[row].split("[SEP]")[1].split()
        assert [context[begin:end] for begin, end in offsets] == words


def test_every_token_is_in_a_window_whatever_the_sizes(tokenizer):
    for limit in range(8, 20):
        for stride in range(1, 9):
            found = encoded(tokenizer, asked(), limit=limit, stride=stride)
            seen = {begin for offsets in found.offsets for begin, _ in offsets.tolist()}
            assert seen == set(range(0, 2 * 12, 2)), (limit, stride)
            assert (found.sequences.lengths <= limit).all()


def test_windows_of_different_lengths_make_one_batch(tokenizer):
    found = encoded(tokenizer, asked("k"), asked("b", context="a b"))
    batch = found.batch(np.array([1, 0]))
    assert batch.candidate_mask.sum(1).tolist() == [3, 13] and batch.labels.tolist() == [[2, 2], [11, 11]]
    first = batch.reading.tokens[batch.places[1, batch.candidate_mask[1]]]
    assert tokenizer.tokens(first.tolist()) == ["[CLS]", *TEXT.split()]


def test_a_question_that_is_too_long_loses_its_end(tokenizer):
    found = encoded(tokenizer, asked("a", question="x y z " * 20), limit=16)
    assert read(tokenizer, found, 0).startswith("[CLS] x y z x [SEP] a b")


def test_part_of_a_word_is_answered_by_the_word(tokenizer):
    context = "a bcd e"
    found = encoded(tokenizer, QuestionRow("1", "x", context, (GoldAnswer("c", 3),)))
    begin, end = found.labels[0]
    assert context[found.offsets[0][begin - 1][0] : found.offsets[0][end - 1][1]] in ("c", "bcd")


def test_the_usual_answer_is_the_one_most_people_gave():
    answers = (
        GoldAnswer("a b", 0),
        GoldAnswer("b", 2),
        GoldAnswer("b", 2),
        GoldAnswer("zz", -1),
        GoldAnswer("zz", -1),
        GoldAnswer("zz", -1),
    )
    assert majority_answer(QuestionRow("1", "x", TEXT, answers)) == GoldAnswer("b", 2)
    assert majority_answer(QuestionRow("1", "x", TEXT, (GoldAnswer("zz", -1),))) is None
