"""Metrics between two log lines: sums, means, non-finite updates, and the way to JSON and back."""

import json

import pytest
import torch

from regard.data.feeds.sampler import Position
from regard.training.metrics_window import MetricsWindow, total
from regard.training.parallel.process_group import ProcessGroup

ALONE, CPU = ProcessGroup(), torch.device("cpu")


def filled():
    window = MetricsWindow(CPU)
    window.add({"ce": torch.tensor(6.0)}, {"ce": 2, "lm": 0}, tokens=10, seconds=2.0)
    window.add({"ce": torch.tensor(3.0)}, {"ce": 1, "lm": 0}, tokens=5, seconds=1.0)
    window.waited = 0.75
    return window


def test_means_are_sums_over_counts_not_means_of_means():
    window = filled()
    assert window.means(ALONE) == {"ce": 3.0}  # a part that did not occur has no mean
    assert window.totals(ALONE) == {"ce": 9.0, "lm": 0.0}
    assert window.tokens_per_second == 5.0 and window.waiting == 0.25


def test_the_first_non_finite_update_is_found_once():
    window = MetricsWindow(CPU)
    assert window.first_non_finite(ALONE) is None
    for index, value in enumerate((1.0, float("nan"), float("inf"))):
        window.watch(Position(0, index), torch.tensor(value))
    assert window.first_non_finite(ALONE) == Position(0, 1)
    assert window.first_non_finite(ALONE) is None  # checked already
    window.watch(Position(1, 0), torch.tensor(2.0))
    assert window.first_non_finite(ALONE) is None


def test_a_window_survives_json():
    window = filled()
    window.sums["ce"] = torch.tensor(1 / 3, dtype=torch.float64)
    facts = json.loads(json.dumps(window.plain(ALONE)))
    again = MetricsWindow.from_plain(facts, CPU, ALONE)
    assert again.plain(ALONE) == window.plain(ALONE) and again.sums["ce"] == 1 / 3
    assert MetricsWindow.from_plain(facts, CPU, ProcessGroup(1, 2)).sums == {}  # the main process has the sums
    assert MetricsWindow(CPU).plain(ALONE)["sums"] == {}


def test_tables_are_added_name_by_name():
    assert total([{"a": 1, "b": 2}, {}, {"b": 3, "c": 4}]) == {"a": 1, "b": 5, "c": 4}


@pytest.mark.parametrize("seconds", [0.0, 1e-12])
def test_no_time_at_all_is_no_division_by_zero(seconds):
    window = MetricsWindow(CPU)
    window.add({}, {}, 0, seconds)
    assert window.tokens_per_second == 0.0 and window.waiting == 0.0
