"""Mask-predict in CUDA graphs; without a CUDA device the same functions run uncaptured, in the same buffers."""

import gc
import weakref

import pytest
import torch

from regard.decoding import generate as decoding
from regard.decoding.cuda_graphs.capture import graph_cache
from regard.decoding.cuda_graphs.mask_predict import EncoderGraph, MaskPredictGraph, padded_to_bucket
from regard.decoding.settings import MaskPredictDecoding
from small import ENDS, decode, small_mask_predict, sources

LENGTHS = [9, 3, 7, 5, 1, 9, 2, 8, 6]


def assert_same(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        assert [each.ids for each in ours] == [each.ids for each in theirs]
        assert [each.score for each in ours] == pytest.approx([each.score for each in theirs], abs=1e-4)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "index"])
@pytest.mark.parametrize("settings", [{}, {"iterations": 2, "length_candidates": 1}], ids=str)
def test_static_buffers_change_nothing(monkeypatch, positions, settings):
    model, asked = small_mask_predict(positions=positions), MaskPredictDecoding(**settings)
    source, token_mask = sources(LENGTHS)
    plain = decode(model, source, token_mask, ENDS, asked)
    monkeypatch.setattr(decoding, "supports_captured_passes", lambda model: True)
    assert_same(decode(model, source, token_mask, ENDS, asked), plain)
    assert graph_cache(model).shapes == []  # what is used once is not worth a capture
    for rows in (slice(None), slice(2, 9), slice(None)):
        assert_same(decode(model, source[rows], token_mask[rows], ENDS, asked), plain[rows])
        if rows == slice(None):
            kinds = {type(each) for each in graph_cache(model)._kept.values()}
            assert kinds == {EncoderGraph, MaskPredictGraph}


def test_graphs_do_not_grow_past_the_last_position(monkeypatch):
    model, asked = small_mask_predict(positions="learned", max_positions=9), MaskPredictDecoding()
    source, token_mask = sources(LENGTHS)
    plain = decode(model, source, token_mask, ENDS, asked)
    monkeypatch.setattr(decoding, "supports_captured_passes", lambda model: True)
    for _ in range(2):
        assert_same(decode(model, source, token_mask, ENDS, asked), plain)
    assert {shape.length for shape in graph_cache(model).shapes} == {9}


def test_a_model_is_freed_with_its_graphs(monkeypatch):
    monkeypatch.setattr(decoding, "supports_captured_passes", lambda model: True)
    model, (source, token_mask) = small_mask_predict(), sources(LENGTHS)
    for _ in range(2):
        decode(model, source, token_mask, ENDS, MaskPredictDecoding())
    assert graph_cache(model).shapes
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_sizes_are_padded_to_few_buckets():
    assert [padded_to_bucket(size) for size in (1, 4, 5, 9, 13, 17, 31, 33, 41, 65)] == [
        8,
        8,
        8,
        16,
        16,
        24,
        32,
        40,
        48,
        80,
    ]
    assert [padded_to_bucket(size, finest=1) for size in (1, 3, 7, 9, 60, 64, 65)] == [1, 3, 7, 10, 64, 64, 80]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_captured_passes_predict_what_the_model_predicts():
    model, (source, token_mask) = small_mask_predict(), sources(LENGTHS)
    asked = MaskPredictDecoding()
    plain = decode(model, source, token_mask, ENDS, asked)
    model, source, token_mask = model.cuda(), source.cuda(), token_mask.cuda()
    for rows in (slice(None), slice(None), slice(2, 9), slice(2, 9), slice(None)):
        assert_same(decode(model, source[rows], token_mask[rows], ENDS, asked), plain[rows])
    assert all(each._graphs for each in graph_cache(model)._kept.values())
