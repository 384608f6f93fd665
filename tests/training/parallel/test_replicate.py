"""Several processes that replicate the model train to the weights of one."""

import pytest
import torch
from torch import nn

from parallel_scenes import assert_same, together
from regard.objectives.loss import LossPart
from regard.training.parallel.replicate import LossModule, _bucket_size, replicate


@pytest.mark.parametrize("count", [2, *(pytest.param(count, marks=pytest.mark.slow) for count in (3, 4))])
def test_several_processes_equal_one_for_every_kind_of_training(count, trained_alone, tmp_path):
    together(count, "parallel_scenes:train_all", tmp_path, distributed="replicate")
    assert_same(tmp_path, trained_alone)


class Squares:
    """A loss with a known gradient, of one parameter or of both."""

    parts = ("loss",)

    def __call__(self, model, batch):
        terms = [model[name].square().sum() for name in batch]
        return {"loss": LossPart(sum(terms), len(batch))}


def unlike(team, out):
    """Give each process other parameters to use."""
    model = nn.ParameterDict({name: nn.Parameter(torch.full((3,), 2.0)) for name in "abc"})
    ddp = replicate(LossModule(model, Squares()))
    for used in (("a", "b") if team.is_main else ("b",), ("c",)):
        for parameter in model.values():
            parameter.grad = None
        total, sums = ddp(used, {"loss": 2})
        total.backward()
        assert sums["loss"].item() == 12.0 * len(used)
        gradients = {name: None if each.grad is None else each.grad.tolist() for name, each in model.items()}
        assert gradients == (
            {"a": None, "b": None, "c": [4.0] * 3} if used == ("c",) else {"a": [2.0] * 3, "b": [4.0] * 3, "c": None}
        )


def test_a_small_model_has_several_buckets_and_a_large_one_those_of_ddp():
    assert _bucket_size(2**20) == 1.0
    assert _bucket_size(64 * 2**20) == 4.0
    assert _bucket_size(2**34) == 25.0


def test_gradients_are_added_and_a_parameter_that_nobody_used_has_none(tmp_path):
    together(2, "test_replicate:unlike", tmp_path)
