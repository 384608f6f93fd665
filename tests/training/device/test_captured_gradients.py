import pytest
import torch
from torch import nn
from torch.testing import assert_close

from regard.errors import ConfigError
from regard.objectives.loss import LossPart
from regard.training.device.cuda_graphs import CudaGraphGradients, Gradients
from regard.training.device.machine import prepare_machine
from regard.training.settings import MachineSettings
from scene import CPU, Scene

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def trained(cuda_graphs: bool, dropout: float) -> Scene:
    machine = prepare_machine(MachineSettings(device="cuda", precision="fp32", cuda_graphs=cuda_graphs))
    # Plain gradient descent: a key's bias has no gradient, and Adam would make whole steps out of its noise.
    scene = Scene(limit=150, dropout=dropout, steps=30, machine=machine, optimizer="sgd", learning_rate=0.1)
    scene.trainer.run()
    return scene


@needs_cuda
def test_replayed_gradients_train_like_computed_ones():
    plain, recorded = trained(False, dropout=0.0), trained(True, dropout=0.0)
    assert type(plain.trainer.gradients) is Gradients and recorded.trainer.gradients._graphs
    assert_close(recorded.weights(), plain.weights(), rtol=0, atol=1e-4)


@needs_cuda
def test_replayed_dropout_follows_the_seed():
    assert_close(trained(True, dropout=0.3).weights(), trained(True, dropout=0.3).weights(), rtol=0, atol=1e-4)


@needs_cuda
def test_graphs_are_dropped_when_memory_runs_out():
    scene = trained(True, dropout=0.0)
    assert isinstance(scene.trainer.gradients, CudaGraphGradients) and scene.trainer.gradients._graphs
    scene.trainer.gradients.release()
    assert not scene.trainer.gradients._graphs
    assert all(parameter.grad.abs().sum() == 0 for parameter in scene.trainer.model.parameters())


def test_the_first_micro_batch_of_an_update_writes_over_the_last_one_and_others_add(monkeypatch):
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: None)
    trainer = Scene(limit=60, dropout=0.0).trainer
    batches = next(trainer.feed.updates(trainer.state.position)).micro_batches
    assert len(batches) > 1
    recorded = CudaGraphGradients(trainer.model, trainer.gradients.objective, CPU)
    recorded._has_room = False  # as before the first recording
    counts = {name: sum(recorded.objective.counts(batch)[name] for batch in batches) for name in recorded._scales}
    places = recorded._buffers
    for _ in range(2):  # the second time, there is something to write over
        recorded.begin(counts, len(batches))
        for batch in batches:
            recorded.add(batch)
        recorded.clear()
    assert all(p.grad is place for p, place in zip(trainer.model.parameters(), places, strict=True))
    found = [place.clone() for place in places]
    recorded.begin(counts, micro_batches=0)
    assert all(place.abs().sum() == 0 for place in places)
    plain = Gradients(trainer.model, recorded.objective, CPU)
    plain.clear()
    plain.begin(counts)
    for batch in batches:
        plain.add(batch)
    assert_close(found, [parameter.grad for parameter in trainer.model.parameters()], rtol=1e-5, atol=1e-6)


class Twins(nn.Module):
    """Two parameters whose sum is all that counts, so that both have one gradient, and a matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(3))
        self.weight = nn.Parameter(torch.randn(3, 3))


class SumOfSquares:
    parts = ("loss",)

    def __call__(self, model, batch):
        return {"loss": LossPart(((model.first + model.second) @ model.weight * batch).square().sum(), 2)}


def test_gradients_of_the_first_recording_stay_where_they_are_found_unless_two_share_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: None)
    model, batch = Twins(), torch.randn(3)
    recorded = CudaGraphGradients(model, SumOfSquares(), CPU)
    recorded.begin({"loss": 2})
    recorded._compute(batch)
    expected = [place.clone() for place in recorded._buffers]
    before, recorded._is_capturing = list(recorded._buffers), True
    recorded._compute(batch)
    assert [place is old for place, old in zip(recorded._buffers, before, strict=True)] == [True, True, False]
    assert all(each.grad is place for each, place in zip(model.parameters(), recorded._buffers, strict=True))
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5 * torch.nn.utils.get_total_norm(expected).item())
    assert_close(recorded._buffers, [place / 2 for place in expected], rtol=1e-4, atol=1e-5)


def test_a_cpu_computes_as_it_goes():
    assert type(Scene().trainer.gradients) is Gradients and not CPU.has_graphs


def test_narrow_sums_are_for_narrow_products():
    with pytest.raises(ConfigError, match="bf16_residual"):
        prepare_machine(MachineSettings(device="cpu", bf16_residual=True))
