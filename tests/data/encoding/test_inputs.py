"""Padded and varlen inputs: the same tokens, and padding to buckets changes none of them."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from regard.data.encoding.inputs import FINE, MANY, PaddedInputs, Tensors, VarlenInputs, as_padded, as_varlen
from regard.data.encoding.sequences import Sequences


def sequences_of(lengths):
    return Sequences.of([list(range(10 * row + 1, 10 * row + 1 + length)) for row, length in enumerate(lengths)])


def ragged_inputs(lengths, starts=2):
    return as_varlen(sequences_of(lengths), np.arange(len(lengths)), np.full(len(lengths), starts))


def test_varlen_inputs_are_the_padded_ones_without_padding():
    sequences, rows = sequences_of([4, 1, 3]), np.array([2, 0])
    padded, varlen = as_padded(sequences, rows, 0), as_varlen(sequences, rows, np.array([2, 1, 9]))
    assert padded.tokens[padded.token_mask].tolist() == varlen.tokens.tolist() == [21, 22, 23, 1, 2, 3, 4]
    assert padded.shape == (2, 4) and varlen.shape == (7, 2, 4)
    assert varlen.cu_seqlens.tolist() == [0, 3, 7] and varlen.cu_seqlens.dtype == torch.int32
    assert varlen.positions.tolist() == [0, 1, 2, 0, 1, 2, 3]
    assert varlen.segments.tolist() == [0, 0, 0, 0, 0, 1, 1]
    for inputs in padded, varlen:
        assert inputs.tokens.flatten()[inputs.begins].tolist() == [21, 1]


@pytest.mark.parametrize("limit", [None, 5, 6, 100])
def test_tokens_of_padded_rows_are_found_again_in_a_bucket(limit):
    inputs = as_padded(sequences_of([5, 2, 3, 1, 4, 5, 2, 1, 3]), np.arange(9), 0)
    grown = inputs.padded_to_bucket(limit)
    positions = torch.arange(inputs.tokens.numel())
    assert torch.equal(grown.tokens.flatten()[inputs.moved(positions, grown)], inputs.tokens.flatten())
    assert grown.token_mask.sum() == inputs.token_mask.sum()
    assert grown.shape == (9, {None: 8, 5: 5, 6: 6, 100: 8}[limit])


@pytest.mark.parametrize("lengths", [[3], [5, 2, 9], [1] * 17, [60, 64, 63], [70, 3] * 9])
@pytest.mark.parametrize("limit", [None, 75])
def test_a_varlen_bucket_only_adds_sequences_of_padding(lengths, limit):
    inputs = ragged_inputs(lengths)
    grown = inputs.padded_to_bucket(limit)
    size, rows, longest = inputs.shape
    for name in ("tokens", "segments", "positions"):
        assert torch.equal(getattr(grown, name)[:size], getattr(inputs, name))
    assert torch.equal(grown.cu_seqlens[: rows + 1], inputs.cu_seqlens)
    added = grown.cu_seqlens[rows:].diff()
    assert (added >= 1).all() and grown.cu_seqlens[-1] == grown.tokens.numel()
    assert grown.cu_seqlens.diff().max() <= grown.max_seqlen and longest <= grown.max_seqlen
    assert grown.max_seqlen <= (limit or 10**9) and not grown.tokens[size:].any()
    steps = [step for length in grown.cu_seqlens.diff().tolist() for step in range(length)]
    assert grown.positions.tolist() == steps
    assert torch.equal(inputs.moved(torch.arange(size), grown), torch.arange(size))


def test_buckets_are_few_and_waste_little():
    draw = np.random.default_rng(0)
    shapes = set()
    for _ in range(50):
        inputs = ragged_inputs(draw.integers(20, 60, 280).tolist())
        assert inputs.shape[0] >= MANY
        grown = inputs.padded_to_bucket()
        shapes.add(grown.shape)
        assert grown.shape[0] <= inputs.shape[0] * (1 + 2.0 ** (1 - FINE)) + 2 * 32
    assert len(shapes) <= 8


def test_groups_of_tensors_move_and_list_what_they_hold():
    @dataclass(frozen=True)
    class Outer(Tensors):
        inner: PaddedInputs | VarlenInputs
        labels: torch.Tensor
        count: int

    outer = Outer(ragged_inputs([2, 3]), torch.arange(2), 2)
    assert set(outer.tensors) == {"labels", "tokens", "segments", "positions", "cu_seqlens"}
    moved = outer.to(torch.device("meta"))
    assert moved.count == 2 and all(tensor.is_meta for tensor in moved.tensors.values())
    assert isinstance(moved.inner, VarlenInputs) and moved.inner.max_seqlen == 3
