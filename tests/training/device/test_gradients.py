import pytest
import torch

from parallel_scenes import together
from regard.objectives.translation import TranslationObjective
from regard.training.device.cuda_graphs import Gradients
from regard.training.device.gradients import build_gradients, out_of_memory
from regard.training.device.machine import Machine
from small import random_pairs, small_transformer

CPU = Machine(torch.device("cpu"), "fp32")


def late(team, out):
    """Run out of memory in the last backward pass, where others already wait."""
    model, objective = small_transformer(), TranslationObjective(0.1)
    gradients = build_gradients(model, objective, CPU, team)
    assert gradients.description.startswith("replicate (DDP): ")
    batch = random_pairs(4).batch(torch.arange(4).numpy())
    gradients.begin(objective.counts(batch), 1)
    gradients.add(batch)

    def fail(_):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    model.encoder.embedding.table.weight.register_hook(fail)
    with pytest.raises(type(out_of_memory()), match="out of memory between two sums over the processes"):
        gradients.finish()


@pytest.mark.slow
def test_memory_that_runs_out_too_late_to_agree_is_an_error(tmp_path):
    together(2, "test_gradients:late", tmp_path)


def test_a_process_alone_adds_its_own_gradients():
    assert type(build_gradients(small_transformer(), TranslationObjective(0.1), CPU)) is Gradients
