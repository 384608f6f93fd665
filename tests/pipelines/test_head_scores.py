"""Outputs of a head come back in the order of the examples, however they are batched."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from regard.data.encoding.labeled import HeadBatch
from regard.pipelines.head_scores import head_outputs, mean_nll, softmax

CPU = torch.device("cpu")


class Examples:
    """Rows of numbers: `outputs` of each, padded to the longest of a batch as candidates are."""

    def __init__(self, outputs: list[list[float]]):
        self.outputs = outputs
        self.batches: list[list[int]] = []

    def __len__(self):
        return len(self.outputs)

    @property
    def lengths(self):
        lengths = np.array([2 * len(row) for row in self.outputs])
        return np.zeros_like(lengths), lengths

    def answers_in(self, rows):
        return np.array([len(self.outputs[row]) for row in rows])

    def batch(self, rows):
        self.batches.append(rows.tolist())
        width = max(len(self.outputs[row]) for row in rows)
        values, mask = torch.zeros(len(rows), width), torch.zeros(len(rows), width, dtype=torch.bool)
        for number, row in enumerate(rows):
            values[number, : len(self.outputs[row])] = torch.tensor(self.outputs[row])
            mask[number, : len(self.outputs[row])] = True
        none = torch.zeros(0, dtype=torch.long)
        return HeadBatch(torch.zeros(0), values, mask, none, none, none, 0, 0)


@dataclass
class Model:
    """Returns the numbers that a batch has at the positions of its candidates."""

    kind: str

    def __call__(self, _, values, mask):
        return values[mask][:, None] if self.kind == "token-classification" else values


ROWS = [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0], [7.0], [8.0, 9.0]]


@pytest.mark.parametrize("limit", [1, 8, 1000])
def test_candidates_keep_their_order_and_lose_their_padding(limit):
    examples = Examples(ROWS)
    outputs = head_outputs(Model("multiple-choice"), examples, CPU, limit)
    assert [each.tolist() for each in outputs] == ROWS and all(each.dtype == np.float64 for each in outputs)
    assert sorted(row for batch in examples.batches for row in batch) == [0, 1, 2, 3, 4]
    assert len(examples.batches) == {1: 5, 8: 3, 1000: 1}[limit]


@pytest.mark.parametrize("limit", [1, 1000])
def test_words_of_a_row_are_its_own(limit):
    outputs = head_outputs(Model("token-classification"), Examples(ROWS), CPU, limit)
    assert [each[:, 0].tolist() for each in outputs] == ROWS


def test_scores_of_labels_are_a_row_each():
    rows = [[1.0, -2.0], [0.5, 3.0], [4.0, 5.0]]
    outputs = head_outputs(Model("classification"), Examples(rows), CPU, 4)
    assert [each.tolist() for each in outputs] == rows


def test_no_examples_have_no_outputs():
    assert head_outputs(Model("classification"), Examples([]), CPU, 4) == []


def test_softmax_is_that_of_torch_and_bears_large_scores():
    scores = np.array([[1.0, 2.0, 3.0], [1e4, 0.0, -1e4]])
    assert np.allclose(softmax(scores), torch.tensor(scores).softmax(-1).numpy(), atol=1e-15)


def test_the_loss_is_the_mean_negative_log_likelihood_and_finite():
    probabilities = [np.array([0.5, 0.5]), np.array([0.25, 0.75])]
    assert mean_nll(probabilities, [0, 1]) == pytest.approx((np.log(2) - np.log(0.75)) / 2)
    assert 700 < mean_nll([np.array([0.0, 1.0])], [0]) < 710
