"""Several processes that shard the model train to the weights of one, and resume as any other number of processes."""

import json
import shutil
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from parallel_scenes import KINDS, ParallelScene, assert_same, together
from regard.checkpoint.bundle import TrainingState
from regard.checkpoint.shards import read_shards, write_shards
from regard.training.parallel.process_group import ProcessGroup
from regard.training.parallel.shard import host_parts, is_dtensor, is_sharded, like, load_whole, local, part_of


@pytest.mark.parametrize(
    "count", [3, pytest.param(2, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)]
)
def test_several_processes_equal_one_for_every_kind_of_training(count, trained_alone, tmp_path):
    together(count, "parallel_scenes:train_all", tmp_path, distributed="shard")
    assert_same(tmp_path, trained_alone)


@pytest.mark.parametrize("kinds", [("language",), pytest.param(KINDS, marks=pytest.mark.slow)])
def test_shards_on_each_of_two_hosts_equal_one_process(kinds, trained_alone, tmp_path):
    together(4, "parallel_scenes:train_all", tmp_path, kinds=kinds, distributed="hybrid", on_host=2)
    assert_same(tmp_path, trained_alone, kinds)


def session(team, out, stop, distributed, kinds=("translate", "language"), **changes):
    """Resume each kind where files of it are, train up to a step, and write the files."""
    for kind in kinds:
        place = out / kind
        scene = ParallelScene(kind, team, out / f"text-{team.rank}", distributed=distributed, **changes)
        trainer = scene.trainer
        assert is_sharded(trainer.model) == (distributed == "shard" and team.size > 1)
        if place.exists():
            facts = json.loads((place / "facts.json").read_text())
            load_whole(trainer.model, read_shards(place / "model"))
            trainer.restore(TrainingState(read_shards(place / "training"), facts))
        team.wait()
        if team.is_main:
            shutil.rmtree(place, ignore_errors=True)
        trainer.run(stop)
        step, training = scene.saved[-1]
        assert step == stop == trainer.state.step
        with trainer.average.applied():
            model = host_parts(trainer.model)
        if team.size > 1:
            write_shards(place / "model", model)
            write_shards(place / "training", training.tensors)
        else:
            save_file(model, out / f"{kind}.safetensors")
        if team.is_main and team.size > 1:
            (place / "facts.json").write_text(json.dumps(training.facts))


@pytest.mark.slow
@pytest.mark.parametrize("tensor_parallel", [1, 2])
def test_training_resumes_as_another_number_of_processes(tensor_parallel, trained_alone, tmp_path):
    together(4, "test_shard:session", tmp_path, stop=3, distributed="shard", tensor_parallel=tensor_parallel)
    assert [len(list(folder.iterdir())) for folder in tmp_path.glob("*/model")] == [4, 4]
    together(3, "test_shard:session", tmp_path, stop=5, distributed="shard")
    session(ProcessGroup(), tmp_path, 8, "shard")
    for kind in ("translate", "language"):
        one, several = load_file(trained_alone / f"{kind}.safetensors"), load_file(tmp_path / f"{kind}.safetensors")
        for name, value in several.items():
            assert_close(value, one[f"average/{name}"], atol=1e-10, rtol=0, msg=f"{kind} {name}")


def held(team, out):
    """Measure what each process holds of weights and optimizer."""
    scene = ParallelScene("language", team, out, distributed="shard", steps=2, ema_decay=0.0)
    scene.trainer.run()
    size = lambda tensors: sum(each.nbytes for each in tensors)
    parameters = list(scene.trainer.model.parameters())
    state = [each for entries in scene.trainer.optimizer.state.values() for each in entries.values() if each.dim()]
    assert all(is_dtensor(each) for each in (*parameters, *state))
    share = size(map(local, (*parameters, *state))) / (3 * sum(each.numel() * 8 for each in parameters))
    assert share <= 0.3, share
    first = parameters[0]
    part = part_of(like(local(first).clone(), first).full_tensor(), first)
    assert part.equal(local(first)) and part_of(torch.ones(2), torch.ones(2)).equal(torch.ones(2))


def test_each_of_4_processes_holds_at_most_three_tenths_of_weights_and_optimizer(tmp_path):
    together(4, "test_shard:held", tmp_path)


def failing(team, out):
    """Diverge in one process, and learn nothing until training starts anew."""
    scene = ParallelScene("translate", team, out, distributed="shard")
    trainer, objective = scene.trainer, scene.trainer.gradients.objective
    untrained = ParallelScene("translate", ProcessGroup(), out).trainer.model
    trainer.hooks = replace(trainer.hooks, untrained=lambda: untrained)

    class Spoiled:
        parts, counts = objective.parts, objective.counts

        def __call__(self, model, batch):
            loss = objective(model, batch)
            if trainer.state.step == 6 and trainer.state.rate_factor == 1.0 and team.rank == 1:
                loss["ce"] = replace(loss["ce"], sum=loss["ce"].sum * float("nan"))
            return loss

    trainer.gradients.objective = Spoiled()
    trainer.run()
    assert [text.split(";")[1].strip() for text in scene.warned] == [
        "rolled back to step 4 with 0.5 times the learning rate."
    ]
    assert trainer.state.step == 8
    load_whole(trainer.model, untrained.state_dict())
    for (name, mine), other in zip(trainer.model.named_parameters(), untrained.parameters(), strict=True):
        assert mine.full_tensor().equal(other), name


def test_a_loss_that_is_no_number_in_one_process_takes_all_back(tmp_path):
    together(2, "test_shard:failing", tmp_path)
