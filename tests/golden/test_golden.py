"""A tiny training of every task gives the numbers that were written down.

On the kind of machine that wrote them the weights and losses are the same to the bit, and so are the words of
outputs; another processor rounds otherwise, and there the losses and the sizes of the weights are compared. Norms and
scores are sums of NumPy's, which rounds by processor where torch does not. `python scripts/golden.py --write
tests/golden/golden.json` writes them anew, after a change that is meant to change them.
"""

import json
from pathlib import Path

import pytest

from every_task import TASKS
from golden.numbers import golden

WRITTEN = json.loads(Path(__file__).with_name("golden.json").read_text(encoding="utf-8"))
OTHER_PROCESSOR = 1e-2
"""Relative difference that rounding grows to in these trainings: 0.6 % between an AMD EPYC and an Intel Xeon."""


@pytest.mark.parametrize("task", TASKS)
def test_a_tiny_training_gives_the_numbers_that_were_written_down(task, tmp_path):
    numbers, expected = golden(task, tmp_path), WRITTEN[task]
    assert numbers["figures"] == pytest.approx(expected["figures"], rel=OTHER_PROCESSOR, abs=1e-3)
    assert numbers["norms"] == pytest.approx(expected["norms"], rel=OTHER_PROCESSOR, abs=1e-3)
    if numbers["weights"] == expected["weights"]:
        assert numbers["figures"] == expected["figures"]
        assert words(numbers["output"]) == words(expected["output"])
        assert scores(numbers["output"]) == pytest.approx(scores(expected["output"]), rel=1e-4, abs=2e-5)


def words(output):
    return [each for each in output if isinstance(each, str)]


def scores(output):
    return [each for each in output if not isinstance(each, str)]
