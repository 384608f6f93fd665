from dataclasses import replace

import numpy as np
import pytest
import torch

from labeled import word_tokenizer
from regard.data.encoding.batches import NO_LABEL
from regard.data.encoding.labeled import encode_choices, encode_texts
from regard.data.encoding.templates import FRAME_TOKENS, SequenceTemplate, cut_beginning, cut_ends
from regard.data.feeds.feed import PairFeed
from regard.data.feeds.sampler import Position
from regard.data.sources.multiple_choice import MultipleChoiceRow
from regard.errors import DataError
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return word_tokenizer().with_special(FRAME_TOKENS)


@pytest.fixture(scope="module")
def frame(tokenizer):
    return SequenceTemplate.of(tokenizer)


@pytest.fixture(scope="module")
def bert():
    """A tokenizer with BERT's special tokens, and its frame."""
    settings = TokenizerSettings(kind="wordpiece", special_tokens="bert", size=200, min_frequency=1)
    found = train_tokenizer(["a b c d e f g h x y z"], settings)
    return found, SequenceTemplate.of(found, is_for_encoder=True)


def words(tokenizer, ids):
    return " ".join(tokenizer.tokens(ids)).replace("▁", "")


def test_new_special_tokens_stand_behind_all_others_and_are_never_found_in_a_text():
    before = word_tokenizer()
    after = before.with_special(FRAME_TOKENS)
    assert [after.token_id(token) for token in FRAME_TOKENS] == [before.size, before.size + 1, before.size + 2]
    assert after.encode("a b <|extract|>").ids[:2] == before.encode("a b").ids
    assert after.token_id("<|extract|>") not in after.encode("a <|extract|> b").ids
    assert before.encode("a b c d").ids == after.encode("a b c d").ids
    with pytest.raises(DataError, match="The tokenizer has no <|start|> token, so it cannot be used for this task."):
        SequenceTemplate.of(before)


def test_texts_are_framed(tokenizer, frame):
    found = encode_texts([("a b", "c")], [1], tokenizer, frame, 20)
    assert words(tokenizer, found.sequences[0]) == "<|start|> a b <|delimiter|> c <|extract|>"
    found = encode_texts([("a b",)], [1], tokenizer, frame, 20)
    assert words(tokenizer, found.sequences[0]) == "<|start|> a b <|extract|>" and not found.is_truncated.any()


def test_both_orders_are_two_sequences_of_one_example(tokenizer, frame):
    found = encode_texts([("a b", "c"), ("d", "e")], [1, 0], tokenizer, frame, 20, pairs="both-orders")
    assert [words(tokenizer, found.sequences[row]) for row in range(2)] == [
        "<|start|> a b <|delimiter|> c <|extract|>",
        "<|start|> c <|delimiter|> a b <|extract|>",
    ]
    assert found.firsts.tolist() == [0, 2, 4] and len(found) == 2


def test_what_is_too_long_loses_the_ends_of_the_longest_and_is_counted(tokenizer, frame):
    found = encode_texts([("a b c d e f", "x y"), ("a", "b")], [0, 0], tokenizer, frame, 8)
    assert words(tokenizer, found.sequences[0]) == "<|start|> a b c <|delimiter|> x y <|extract|>"
    assert found.is_truncated.tolist() == [True, False]
    assert cut_ends([[1] * 9, [2] * 7, [3]], 9) == [[1] * 4, [2] * 4, [3]]
    for room in range(3, 17):
        assert sum(map(len, cut_ends([[1] * 9, [2] * 7, [3]], room))) == room


def test_a_context_that_is_too_long_loses_its_beginning(tokenizer, frame):
    found = encode_choices([MultipleChoiceRow("a b c d e", ("x y", "z"), 1)], tokenizer, frame, 8)
    assert [words(tokenizer, found.sequences[row]) for row in range(2)] == [
        "<|start|> c d e <|delimiter|> x y <|extract|>",
        "<|start|> b c d e <|delimiter|> z <|extract|>",
    ]
    assert found.is_truncated.tolist() == [True] and cut_beginning([1, 2, 3], [4] * 9, 5) == [[3], [4] * 4]


def test_a_batch_looks_at_the_extract_token_and_says_every_next_one(tokenizer, frame):
    found = encode_texts([("a b c",), ("d",)], [1, 0], tokenizer, frame, 20)
    batch = found.batch(np.array([1, 0]))
    extract = tokenizer.token_id("<|extract|>")
    assert batch.reading.tokens.flatten()[batch.places].tolist() == [[extract], [extract]]
    assert batch.labels.tolist() == [0, 1] and batch.label_count == 2
    assert batch.token_count == len(batch.token_labels) == 2 + 4
    said = batch.reading.tokens.flatten()[batch.lm_positions + 1]
    assert torch.equal(said, batch.token_labels) and tokenizer.pad_id not in said.tolist()
    assert words(tokenizer, said.tolist()) == "d <|extract|> a b c <|extract|>"


def test_examples_with_fewer_choices_look_at_fewer_tokens(tokenizer, frame):
    found = encode_choices(
        [MultipleChoiceRow("a", ("x", "y", "z"), 2), MultipleChoiceRow("b", ("x", "y"), 0)], tokenizer, frame, 20
    )
    batch = found.batch(np.array([0, 1]))
    assert batch.candidate_mask.tolist() == [[True, True, True], [True, True, False]]
    assert batch.reading.shape[0] == 5 and batch.token_count == 5 * 4


def test_a_batch_on_the_grid_holds_the_same_examples(tokenizer, frame):
    texts = [(" ".join("abcdefgh"[: 1 + n % 8]),) for n in range(19)]
    found = encode_texts(texts, list(range(19)), tokenizer, frame, 20)
    batch = found.batch(np.arange(19))
    grown = batch.padded_to_bucket()
    assert grown.shape[0] == 20 and grown.shape[1] % 4 == 0 and grown.shape[2] == 20
    assert grown.labels[19:].tolist() == [NO_LABEL] and grown.candidate_mask[19:].tolist() == [[True]]
    token_mask = grown.token_labels != NO_LABEL
    assert torch.equal(grown.token_labels[token_mask], batch.token_labels)
    assert torch.equal(grown.reading.tokens.flatten()[grown.lm_positions[token_mask] + 1], batch.token_labels)
    looked_at = [each.reading.tokens.flatten()[each.places[:19]] for each in (batch, grown)]
    assert torch.equal(*looked_at)
    assert batch.padded_to_bucket(limit=batch.shape[1]).shape[1] == batch.shape[1]


def test_plans_hold_every_example_once_and_follow_from_the_seed(tokenizer, frame):
    texts = [(" ".join("abcdefgh"[: 1 + n % 8]),) for n in range(50)]
    found = encode_texts(texts, list(range(50)), tokenizer, frame, 20)

    def labels(seed, epoch):
        feed = PairFeed(lambda _: found, 60, 30, seed, pool=4)
        updates = feed.updates(Position(epoch, 0))
        wanted = [next(updates) for _ in range(feed.updates_in(epoch))]
        return [[batch.labels.tolist() for batch in update.micro_batches] for update in wanted]

    flat = [label for update in labels(1, 0) for batch in update for label in batch]
    assert sorted(flat) == list(range(50)) and labels(1, 0) == labels(1, 0) != labels(1, 1)
    assert labels(2, 0) != labels(1, 0)


def test_the_fingerprint_depends_on_texts_and_labels(tokenizer, frame):
    prints = {
        encode_texts([(text,)], [label], tokenizer, frame, 20).fingerprint()
        for text in ("a", "b")
        for label in (0, 1)
    }
    assert len(prints) == 4


def test_an_encoder_looks_at_the_first_token_and_tells_segments_apart(bert):
    tokenizer, frame = bert
    found = encode_texts([("a b", "c"), ("d", "e f")], [1, 0], tokenizer, frame, 20)
    batch = found.batch(np.array([1, 0]))
    reading = batch.reading
    assert words(tokenizer, reading.tokens.tolist()) == "[CLS] d [SEP] e f [SEP] [CLS] a b [SEP] c [SEP]"
    assert reading.segments.tolist() == [0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1]
    assert reading.positions.tolist() == [0, 1, 2, 3, 4, 5] * 2
    assert reading.cu_seqlens.tolist() == [0, 6, 12] and reading.max_seqlen == 6
    assert batch.places.tolist() == [[0], [6]] and batch.labels.tolist() == [0, 1]
    assert batch.token_count == 0
    single = encode_texts([("a b",)], [0], tokenizer, frame, 20).batch(np.array([0])).reading
    assert words(tokenizer, single.tokens.tolist()) == "[CLS] a b [SEP]" and not single.segments.any()


def test_sequences_end_to_end_on_the_grid_are_followed_by_others(bert):
    tokenizer, frame = bert
    texts = [(" ".join("abcdefgh"[: 1 + n % 8]), "x") for n in range(19)]
    numbers = [float(n) for n in range(19)]
    batch = encode_texts(texts, numbers, tokenizer, frame, 20).batch(np.arange(19))
    grown = batch.padded_to_bucket(limit=20)
    size = len(batch.reading.tokens)
    assert torch.equal(grown.reading.tokens[:size], batch.reading.tokens)
    assert torch.equal(grown.places[:19], batch.places) and grown.labels[19:].isnan().all()
    bounds = grown.reading.cu_seqlens
    assert int(bounds[-1]) == len(grown.reading.tokens) and int(bounds.diff().max()) <= grown.reading.max_seqlen <= 20
    assert (bounds.diff() > 0).all()
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist()):
        assert grown.reading.positions[begin:end].tolist() == list(range(end - begin))


def test_texts_apart_are_looked_at_as_wholes(bert):
    tokenizer, frame = bert
    found = encode_texts([("a b c", "d"), ("e f", "g")], [0.5, 1.0], tokenizer, frame, 4, "bi-encoder")
    assert found.is_truncated.tolist() == [True, False]
    batch = replace(found, uses_pooling=True).batch(np.array([1, 0]))
    assert (
        words(tokenizer, batch.reading.tokens.tolist())
        == "[CLS] e f [SEP] [CLS] g [SEP] [CLS] a b [SEP] [CLS] d [SEP]"
    )
    assert not batch.reading.segments.any()
    assert batch.places.tolist() == [[0, 1], [2, 3]] and batch.labels.tolist() == [1.0, 0.5]
