"""Snapshots of a training, their form on disk, and the checks before a resume."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.checkpoint.bundle import TrainingState
from regard.errors import CheckpointError
from regard.training.ema import Ema
from regard.training.saved import StateRecord, check_tensors, checked_state, saved_snapshot
from regard.training.settings import TrainSettings
from regard.training.snapshot import Snapshot

WEIGHTS = {"weight": torch.ones(2, 3)}
STEPS = {"weight/step": torch.tensor(4.0)}
MOMENTS = {"weight/exp_avg": torch.zeros(2, 3), "weight/exp_avg_sq": torch.zeros(2, 3)}
FACTS = {
    "loop": {"step": 4, "position": {"epoch": 0, "index": 4}},
    "window": {"sums": {"ce": 1.5}, "counts": {"ce": 3}, "tokens": 9, "seconds": 0.5},
}
ADAM = TrainSettings(optimizer="adam")


def state(tensors=None, facts=FACTS):
    snapshot = Snapshot(WEIGHTS, {}, STEPS | MOMENTS if tensors is None else tensors, FACTS["loop"], FACTS["window"])
    return replace(snapshot.training_state(WEIGHTS), facts=facts, origin=Path("run/checkpoint"))


def refusal(call):
    with pytest.raises(CheckpointError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize("average", [{}, {"weight": torch.full((2, 3), 0.5)}], ids=["plain", "averaged"])
def test_a_snapshot_comes_back_from_its_training_state(average):
    snapshot = Snapshot(WEIGHTS, average, STEPS | MOMENTS, FACTS["loop"], FACTS["window"])
    saved = average or WEIGHTS  # what the model itself holds
    again = Snapshot.of(snapshot.training_state(WEIGHTS), saved)
    assert again.average.keys() == average.keys()
    assert {"loop": again.loop, "window": again.window} == FACTS == snapshot.training_state(WEIGHTS).facts
    for mine, other in ((again.weights, WEIGHTS), (again.optimizer, STEPS | MOMENTS), (again.average, average)):
        assert mine.keys() == other.keys() and all(torch.equal(mine[name], other[name]) for name in mine)


def test_a_saved_state_that_fits_is_taken():
    model = torch.nn.Module()
    model.weight = torch.nn.Parameter(torch.ones(2, 3))
    snapshot = saved_snapshot(state(), Ema(model, 0.0), ADAM)
    assert snapshot.loop["tries"] == 0 and snapshot.optimizer.keys() == (STEPS | MOMENTS).keys()


@pytest.mark.parametrize(
    "tensors, reason",
    [
        ({"bias/step": torch.zeros(())}, "optimizer/bias/step belongs to no trained parameter"),
        ({"weight/rate": torch.zeros(())}, "optimizer/weight/rate belongs to no trained parameter"),
        ({"weight/exp_avg": torch.zeros(3, 2)}, "optimizer/weight/exp_avg has shape (3, 2), not (2, 3)"),
        (STEPS, "weight/exp_avg is missing"),
    ],
)
def test_tensors_that_do_not_fit_are_one_sentence(tensors, reason):
    message = refusal(lambda: check_tensors(state(tensors), WEIGHTS, ADAM))
    assert message == f"run/checkpoint/optimizer.safetensors: it does not fit the run ({reason}); copy it again."


def test_weights_beside_an_average_must_be_complete():
    message = refusal(lambda: check_tensors(state(), WEIGHTS, ADAM, has_average=True))
    assert "weights/weight is missing" in message


@pytest.mark.parametrize("step", [-1, "four", None, 1.5])
def test_facts_of_the_wrong_type_are_refused_with_their_path(step):
    facts = FACTS | {"loop": FACTS["loop"] | {"step": step}}
    assert refusal(lambda: checked_state(state(facts=facts))).startswith("run/checkpoint/state.json: ")


def test_only_a_run_in_the_loop_needs_a_metrics_window():
    facts = {"loop": FACTS["loop"]}
    assert checked_state(TrainingState({}, facts), StateRecord).facts["loop"]["step"] == 4
    assert "window" in refusal(lambda: checked_state(state(facts=facts)))
