"""Texts read on by recorded steps; without a CUDA device the same steps run unrecorded, in the same places."""

import pytest
import torch
from torch.testing import assert_close

from language import small_language_model
from regard.decoding.cuda_graphs import decoder_only as recorded_reader
from regard.decoding.cuda_graphs.decoder_only import CudaGraphDecoderOnlyStepper
from regard.decoding.steppers.decoder_only import DecoderOnlyStepper
from regard.decoding.steppers.interface import Request
from regard.models.gpt.model import GptSettings

SIZES = {"width": 16, "heads": 4, "layers": 2, "feed_forward_width": 24, "max_positions": 60}
PROMPTS = [[4, 5, 6, 7, 8], [9], [10, 11, 12]]


@pytest.fixture
def model():
    return small_language_model(GptSettings(**SIZES))


@pytest.fixture(autouse=True)
def small_rooms(monkeypatch):
    monkeypatch.setattr(recorded_reader, "FEWEST_SLOTS", 8)


def both(model, window=None):
    return DecoderOnlyStepper(model, 0, window), CudaGraphDecoderOnlyStepper(model, 0, window)


def requests(prompts):
    return [Request(ids, 50) for ids in prompts]


def rows(*numbers):
    return torch.tensor(numbers)


def assert_same(plain, recorded):
    assert_close(recorded, plain, atol=1e-5, rtol=1e-5)


def test_recorded_steps_are_plain_ones_however_long(model):
    readers = both(model)
    with torch.inference_mode():
        assert_same(*(reader.admit(requests(PROMPTS)) for reader in readers))
        for token in range(4, 40):  # the room grows several times
            assert_same(*(reader.step(rows(token % 17, 5, token % 13)) for reader in readers))
        assert len({recording.shape.slots for recording in readers[1]._graphs._kept.values()}) > 2


def test_rows_leave_without_anything_moving(model):
    readers = both(model)
    with torch.inference_mode():
        [reader.admit(requests(PROMPTS)) for reader in readers]
        assert_same(*(reader.step(rows(4, 5, 6)) for reader in readers))
        [reader.reorder(rows(2, 0), rows(2, 0)) for reader in readers]
        assert_same(*(reader.step(rows(7, 8)) for reader in readers))
        [reader.reorder(rows(1), rows(1)) for reader in readers]
        assert_same(*(reader.step(rows(9)) for reader in readers))


@pytest.mark.parametrize("is_shared", [True, False])
def test_several_continuations_begin_where_the_prompt_ends(model, is_shared):
    readers = both(model)
    with torch.inference_mode():
        [reader.admit(requests(PROMPTS[:2]), 2, is_shared) for reader in readers]
        assert_same(*(reader.step(rows(4, 5, 6, 7)) for reader in readers))
        assert_same(*(reader.step(rows(8, 4, 9, 5)) for reader in readers))


def test_two_readers_do_not_write_over_each_other(model):
    plain, one = both(model)
    with torch.inference_mode():
        [reader.admit(requests(PROMPTS)) for reader in (plain, one)]
        [reader.step(rows(4, 5, 6)) for reader in (plain, one)]
        other = CudaGraphDecoderOnlyStepper(model, 0)
        other.admit(requests([[3, 3], [4], [5]]))
        other.step(rows(7, 7, 7))
        assert_same(*(reader.step(rows(8, 9, 10)) for reader in (plain, one)))
        kept = len(one._graphs._kept)
        del other
        third = CudaGraphDecoderOnlyStepper(model, 0)
        third.admit(requests([[3], [4], [5]]))
        third.step(rows(7, 7, 7))
        assert len(third._graphs._kept) == kept  # what the other had is free again


def test_without_memory_for_graphs_steps_are_plain(model, monkeypatch):
    readers = both(model)
    monkeypatch.setattr(readers[1]._graphs, "of", lambda *_: None)
    with torch.inference_mode():
        [reader.admit(requests(PROMPTS)) for reader in readers]
        [reader.admit(requests(PROMPTS), 2, is_shared=False) for reader in readers]
        [reader.reorder(rows(*range(9)), rows(*range(9))) for reader in readers]
        assert_same(*(reader.step(rows(*range(4, 13))) for reader in readers))
        [reader.reorder(rows(2, 1), rows(2, 1)) for reader in readers]
        assert_same(*(reader.step(rows(7, 8)) for reader in readers))


@pytest.mark.parametrize("window", [None, 12])
@pytest.mark.parametrize("has_memory", [True, False])
def test_texts_join_between_two_steps(model, monkeypatch, window, has_memory):
    readers = both(model, window)
    if not has_memory:
        monkeypatch.setattr(readers[1]._graphs, "of", lambda *_: None)
    with torch.inference_mode():
        count = 0
        for step in range(20):
            if step in (0, 3, 4, 15):
                assert_same(*(reader.admit(requests([[step + 4], [7] * (step + 1)]), 2, False) for reader in readers))
                count += 4
            if step == 9:
                [reader.reorder(rows(5, 2, 3, 8), rows(5, 2, 3, 8)) for reader in readers]
                count = 4
            assert_same(*(reader.step(torch.arange(count) + step) for reader in readers))
