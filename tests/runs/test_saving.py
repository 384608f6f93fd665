"""Checkpoints of a run: as they were when they were saved, whole or absent, and failures told at the next update."""

import os
import signal
import threading
from dataclasses import replace

import pytest
import safetensors.torch
import torch
from safetensors.torch import load_file

from bundles import small_bundle
from parallel_scenes import ParallelScene, together
from regard.checkpoint.bundle import TrainingState
from regard.checkpoint.shards import read_shards
from regard.checkpoint.store import CheckpointStore
from regard.errors import CheckpointError
from regard.runs.saving import Saver
from regard.runs.store.folder import RunFolder
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer
from regard.training.parallel.process_group import ProcessGroup
from regard.training.parallel.shard import local
from regard.training.settings import TrainSettings
from regard.training.state import LoopState
from scene import Scene

FULL = OSError(28, "No space left on device")


def small():
    return small_bundle({"tokenizer": train_tokenizer(["a dog and a cat"] * 3, TokenizerSettings(size=40))})


bundle = pytest.fixture(small)


def saver_of(folder, bundle, **settings):
    return Saver(RunFolder(folder), bundle, TrainSettings(**settings), ProcessGroup())


class Gate:
    """Holds a store's writes until it is opened."""

    def __init__(self, monkeypatch):
        self.is_open, save = threading.Event(), CheckpointStore.save

        def held(*arguments, **named):
            assert self.is_open.wait(20)
            return save(*arguments, **named)

        monkeypatch.setattr(CheckpointStore, "save", held)


def test_a_checkpoint_holds_what_was_there_when_it_was_saved(tmp_path, monkeypatch, bundle):
    gate, saver = Gate(monkeypatch), saver_of(tmp_path, bundle)
    before = {name: each.detach().clone() for name, each in bundle.model.state_dict().items()}
    bundle.facts["threshold"] = 1.0
    saver.save(LoopState(step=3), TrainingState({"a": torch.ones(2)}, {}), None)
    assert not (tmp_path / "checkpoints").exists()  # training goes on
    bundle.facts["threshold"] = 2.0
    with torch.no_grad():
        for parameter in bundle.model.parameters():
            parameter.zero_()
    gate.is_open.set()
    saver.writer.wait()
    folder = saver.store.path("latest")
    written = load_file(folder / "model.safetensors")
    assert folder.name == "00000003" and written and all(before[name].equal(each) for name, each in written.items())
    assert '"threshold": 1.0' in (folder / "config.json").read_text()


def test_what_is_written_in_the_background_is_the_same_to_the_bit(tmp_path, bundle):
    for is_async in (True, False):
        saver = saver_of(tmp_path / str(is_async), bundle, async_save=is_async)
        saver.save(LoopState(step=3), TrainingState({"a": torch.ones(2)}, {"loop": 1}), 0.5)
        assert is_async or saver.store.path("best")  # written at once
        saver.writer.wait()
    files = [
        sorted(path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*"))
        for name in ("True", "False")
    ]
    assert files[0] == files[1] and len(files[0]) > 5
    for path in files[0]:
        one, other = tmp_path / "True" / path, tmp_path / "False" / path
        assert one.is_dir() or one.read_bytes() == other.read_bytes()


def test_a_write_that_fails_is_told_at_the_next_update_and_leaves_the_checkpoint_before(
    tmp_path, monkeypatch, bundle
):
    scene = Scene(steps=12, save_every=2, validate_every=100)
    saver = saver_of(tmp_path, bundle)
    scene.trainer.hooks = replace(scene.trainer.hooks, save=saver.save, writer=saver.writer)
    save_file = safetensors.torch.save_file

    def write(tensors, path):
        if ".00000004" in str(path) and "optimizer" in str(path):
            raise FULL
        save_file(tensors, path)

    monkeypatch.setattr("safetensors.torch.save_file", write)
    with pytest.raises(CheckpointError) as error:
        scene.trainer.run()
    assert str(error.value) == (
        f"{tmp_path / 'checkpoints' / '00000004'}: the checkpoint could not be written (No space left on device); "
        "checkpoints written before are untouched, so free some space and resume with --resume."
    )
    assert scene.trainer.state.step in (4, 5, 6)
    assert saver.store.path("latest").name == "00000002" == saver.store.resumable()[0].name
    assert sorted(path.name for path in saver.store.folder.iterdir()) == ["00000002", "index.json"]


@pytest.mark.parametrize("ends", ["finished", "interrupted"])
def test_the_end_of_training_and_a_signal_wait_for_the_write(ends, tmp_path, monkeypatch, bundle):
    gate, saver, scene = Gate(monkeypatch), saver_of(tmp_path, bundle), Scene(steps=5, validate_every=100)
    opener = threading.Timer(0.3, gate.is_open.set)

    def save(state, training, value):
        saver.save(state, training, value)
        opener.start()

    def record(record):
        if ends == "interrupted" and record["step"] == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    scene.trainer.hooks = replace(scene.trainer.hooks, save=save, writer=saver.writer, record=record)
    assert scene.trainer.run() == ends
    assert saver.store.path("latest").name == ("00000005" if ends == "finished" else "00000003")


def test_a_process_killed_in_the_write_leaves_the_checkpoint_before(tmp_path, bundle, monkeypatch):
    saver = saver_of(tmp_path, bundle)
    saver.save(LoopState(step=1), TrainingState({"a": torch.ones(2)}, {}), None)
    saver.writer.wait()
    number = os.fork()
    if number == 0:  # a process of its own, killed before its write is renamed
        monkeypatch.setattr("regard.checkpoint.atomic._sync", lambda path: os.kill(os.getpid(), signal.SIGKILL))
        saver.save(LoopState(step=2), TrainingState({"a": torch.ones(2)}, {}), None)
        saver.writer.wait()
        os._exit(0)
    assert os.waitpid(number, 0)[1] == signal.SIGKILL
    assert any(path.name.startswith(".00000002") for path in saver.store.folder.iterdir())
    assert saver.store.resumable()[0].name == "00000001"
    saver.save(LoopState(step=2), TrainingState({"a": torch.ones(2)}, {}), None)
    saver.drop_older()  # waits for the write
    assert sorted(path.name for path in saver.store.folder.iterdir()) == ["00000002", "index.json"]


def sharded(team, out):
    """Save parts in the background while training goes on; then the disk of the last process is full."""
    scene = ParallelScene("language", team, out / f"text-{team.rank}", distributed="shard", ema_decay=0.0)
    bundle = replace(small(), model=scene.trainer.model)
    saver = Saver(RunFolder(out), bundle, TrainSettings(), team)
    weights = []

    def save(state, training, value):
        saver.save(state, training, value)
        weights.append({name: local(each.detach()).clone() for name, each in scene.trainer.model.named_parameters()})

    scene.trainer.hooks = replace(scene.trainer.hooks, save=save, writer=saver.writer)
    scene.trainer.run(4)
    whole = read_shards(saver.store.path("latest") / "model")
    saved = {name: each.full_tensor() for name, each in scene.trainer.model.named_parameters()}
    assert whole and all(whole[name].equal(each) for name, each in saved.items())
    if team.rank == team.size - 1:
        import torch.distributed.checkpoint.hf_storage as storage

        def full(*_):
            raise FULL

        storage.HuggingFaceStorageWriter.write_data = full
    with pytest.raises(CheckpointError, match=r"could not be written \(No space left on device\); "):
        scene.trainer.run()
    assert saver.store.path("latest").name == "00000004"


def test_parts_of_a_model_are_saved_in_the_background_and_a_failure_of_one_process_is_that_of_all(tmp_path):
    together(2, "test_saving:sharded", tmp_path)
