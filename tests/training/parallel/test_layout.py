"""How processes divide a training: copies, shards, and processes that split layers."""

import pytest

from regard.errors import ConfigError
from regard.training.parallel.layout import Layout, choose_layout


@pytest.mark.parametrize(
    "distributed, tensor, size, on_host, expected",
    [
        ("auto", 1, 8, 8, Layout(8, 1, 1)),
        ("auto", 2, 8, 8, Layout(4, 1, 2)),
        ("replicate", 1, 4, 4, Layout(4, 1, 1)),
        ("shard", 1, 4, 2, Layout(1, 4, 1)),
        ("shard", 2, 8, 4, Layout(1, 4, 2)),
        ("hybrid", 1, 4, 2, Layout(2, 2, 1)),
        ("hybrid", 2, 8, 4, Layout(2, 2, 2)),
        ("hybrid", 1, 4, 4, Layout(1, 4, 1)),
    ],
)
def test_the_product_of_all_dimensions_is_the_number_of_processes(distributed, tensor, size, on_host, expected):
    layout = choose_layout(distributed, tensor, size, on_host)
    assert layout == expected and layout.copies * layout.holders == size


def test_auto_shards_what_does_not_fit_one_process():
    assert choose_layout("auto", 1, 4, 4, needs_shards=True) == Layout(1, 4, 1)
    assert choose_layout("auto", 2, 4, 4, needs_shards=True) == Layout(1, 2, 2)
    assert choose_layout("auto", 2, 4, 4) == Layout(2, 1, 2)


@pytest.mark.parametrize(
    "distributed, tensor, size, on_host, expected",
    [
        ("auto", 2, 3, 3, "train.tensor_parallel: 2 does not divide the 3 processes; start a multiple of 2"),
        ("hybrid", 1, 5, 2, "5 processes, 2 of them on this host, do not make equal hosts"),
        ("hybrid", 2, 6, 3, "whole groups of 2; start as many on each, or use shard"),
    ],
)
def test_numbers_of_processes_that_do_not_fit_are_refused(distributed, tensor, size, on_host, expected):
    with pytest.raises(ConfigError, match=expected):
        choose_layout(distributed, tensor, size, on_host)
