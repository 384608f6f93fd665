import pytest
import torch
from test_loop import CPU, Scene
from torch.testing import assert_close

from regard.training import MachineSettings, prepare_machine
from regard.training.gradients import Gradients, RecordedGradients

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
    assert type(plain.trainer.gradients) is Gradients and recorded.trainer.gradients._recordings
    assert_close(recorded.weights(), plain.weights(), rtol=0, atol=1e-4)


@needs_cuda
def test_replayed_dropout_follows_the_seed():
    assert_close(trained(True, dropout=0.3).weights(), trained(True, dropout=0.3).weights(), rtol=0, atol=1e-4)


@needs_cuda
def test_recordings_are_dropped_when_memory_runs_out():
    scene = trained(True, dropout=0.0)
    assert isinstance(scene.trainer.gradients, RecordedGradients) and scene.trainer.gradients._recordings
    scene.trainer.gradients.release()
    assert not scene.trainer.gradients._recordings
    assert all(parameter.grad.abs().sum() == 0 for parameter in scene.trainer.model.parameters())


def test_a_cpu_computes_as_it_goes():
    assert type(Scene().trainer.gradients) is Gradients and not CPU.has_graphs
