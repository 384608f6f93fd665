import pytest
import torch
from torch.testing import assert_close

from parallel_scenes import ParallelScene, together
from regard.errors import ConfigError
from regard.training.device.activation_checkpointing import checkpoint_blocks
from scene import Scene


def kept(scene):
    """Return the bytes that autograd keeps of one micro-batch, parameters aside."""
    trainer, sizes = scene.trainer, {}
    own = {each.untyped_storage().data_ptr() for each in trainer.model.parameters()}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    update = next(trainer.feed.updates(trainer.state.position))
    trainer.model.train()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        trainer.gradients.objective(trainer.model, update.micro_batches[0])
    return sum(sizes.values())


def test_training_is_the_same_with_dropout_and_keeps_less():
    plain, recomputed = Scene(dropout=0.2), Scene(dropout=0.2, activation_checkpointing=True)
    assert kept(recomputed) < 0.5 * kept(plain)
    for scene in (plain, recomputed):
        scene.trainer.run()
    assert_close(recomputed.weights(), plain.weights(), atol=1e-6, rtol=0)


def test_a_model_without_blocks_is_refused():
    with pytest.raises(ConfigError, match="train.activation_checkpointing: this model has no Transformer blocks"):
        checkpoint_blocks(torch.nn.Linear(2, 2))


def sharded(team, out):
    """Train a sharded model with and without activation checkpointing."""
    scenes = [
        ParallelScene("translate", team, out, distributed="shard", steps=4, activation_checkpointing=each)
        for each in (False, True)
    ]
    for scene in scenes:
        scene.trainer.run()
    one, other = (dict(scene.trainer.average.parameters) for scene in scenes)
    assert_close(other, one, atol=1e-12, rtol=0)


@pytest.mark.slow
def test_blocks_of_a_sharded_model_are_recomputed_too(tmp_path):
    together(2, "test_activation_checkpointing:sharded", tmp_path)
