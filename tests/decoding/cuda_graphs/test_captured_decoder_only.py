"""Texts read on by recorded steps; without a CUDA device the same steps run unrecorded, in the same places."""

import pytest
import torch
from torch.testing import assert_close

from language import small_language_model
from regard.decoding.cuda_graphs import decoder_only as recorded_reader
from regard.decoding.cuda_graphs.decoder_only import CudaGraphDecoderOnlyStepper
from regard.decoding.steppers.decoder_only import DecoderOnlyStepper
from regard.models.gpt.model import GptSettings

SIZES = {"width": 16, "heads": 4, "layers": 2, "feed_forward_width": 24, "max_positions": 60}
PROMPTS = [[4, 5, 6, 7, 8], [9], [10, 11, 12]]


@pytest.fixture
def model():
    return small_language_model(GptSettings(**SIZES))


@pytest.fixture(autouse=True)
def small_rooms(monkeypatch):
    monkeypatch.setattr(recorded_reader, "FEWEST_SLOTS", 8)


def both(model):
    return DecoderOnlyStepper(model, 0), CudaGraphDecoderOnlyStepper(model, 0)


def assert_same(plain, recorded):
    assert_close(recorded, plain, atol=1e-5, rtol=1e-5)


def test_recorded_steps_are_plain_ones_however_long(model):
    readers = both(model)
    with torch.inference_mode():
        assert_same(*(reader.begin(PROMPTS) for reader in readers))
        for token in range(4, 40):  # the room grows several times
            assert_same(*(reader.step([token % 17, 5, token % 13]) for reader in readers))
        assert len({recording.shape.slots for recording in readers[1]._graphs._kept.values()}) > 2


def test_rows_leave_without_anything_moving(model):
    readers = both(model)
    with torch.inference_mode():
        [reader.begin(PROMPTS) for reader in readers]
        assert_same(*(reader.step([4, 5, 6]) for reader in readers))
        [reader.select([2, 0], [2, 0]) for reader in readers]
        assert_same(*(reader.step([7, 8]) for reader in readers))
        [reader.select([1], [1]) for reader in readers]
        assert_same(*(reader.step([9]) for reader in readers))


@pytest.mark.parametrize("is_shared", [True, False])
def test_several_continuations_begin_where_the_prompt_ends(model, is_shared):
    readers = both(model)
    with torch.inference_mode():
        [reader.begin(PROMPTS[:2]) for reader in readers]
        [reader.select([0, 0, 1, 1], None if is_shared else [0, 0, 1, 1]) for reader in readers]
        assert_same(*(reader.step([4, 5, 6, 7]) for reader in readers))
        assert_same(*(reader.step([8, 4, 9, 5]) for reader in readers))


def test_two_readers_do_not_write_over_each_other(model):
    plain, one = both(model)
    with torch.inference_mode():
        [reader.begin(PROMPTS) for reader in (plain, one)]
        [reader.step([4, 5, 6]) for reader in (plain, one)]
        other = CudaGraphDecoderOnlyStepper(model, 0)
        other.begin([[3, 3], [4], [5]])
        other.step([7, 7, 7])
        assert_same(*(reader.step([8, 9, 10]) for reader in (plain, one)))
        kept = len(one._graphs._kept)
        del other
        third = CudaGraphDecoderOnlyStepper(model, 0)
        third.begin([[3], [4], [5]])
        third.step([7, 7, 7])
        assert len(third._graphs._kept) == kept  # what the other had is free again


def test_without_memory_for_graphs_steps_are_plain(model, monkeypatch):
    readers = both(model)
    monkeypatch.setattr(readers[1]._graphs, "of", lambda *_: None)
    with torch.inference_mode():
        [reader.begin(PROMPTS) for reader in readers]
        [reader.select([0, 0, 2], [0, 0, 2]) for reader in readers]
        assert_same(*(reader.step([4, 5, 6]) for reader in readers))
        [reader.select([2, 1], [2, 1]) for reader in readers]
        assert_same(*(reader.step([7, 8]) for reader in readers))
