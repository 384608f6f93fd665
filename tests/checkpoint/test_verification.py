"""Every file of a checkpoint is compared with its manifest, and removal follows no link."""

import os

import pytest
import torch

from bundles import small_bundle
from regard.checkpoint.bundle import TrainingState, write_bundle
from regard.checkpoint.verification import STATE, TENSORS, check_intact, remove_folder
from regard.errors import CheckpointError
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

BUNDLE = small_bundle(
    {"tokenizer": train_tokenizer(["the dog sleeps in the garden"] * 3, TokenizerSettings(size=40))}
)


@pytest.fixture
def folder(tmp_path):
    write_bundle(tmp_path / "one", BUNDLE, TrainingState({"step": torch.arange(3.0)}, {"step": 5}))
    return tmp_path / "one"


def message(call) -> str:
    with pytest.raises(CheckpointError) as error:
        call()
    return str(error.value)


def test_a_checkpoint_is_whole_with_or_without_its_training_state(folder):
    check_intact(folder, with_training=True)
    remove_folder(folder / "training")
    check_intact(folder)
    assert message(lambda: check_intact(folder, with_training=True)).endswith(
        ": missing, so the checkpoint is incomplete; copy it again."
    )


def test_half_a_training_state_is_damage(folder):
    (folder / TENSORS).unlink()
    assert message(lambda: check_intact(folder)) == (
        f"{folder / TENSORS}: missing, so the checkpoint is incomplete; copy it again."
    )


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", STATE])
def test_a_file_with_one_other_byte_is_damaged(folder, name):
    data = bytearray((folder / name).read_bytes())
    data[-1] ^= 1
    (folder / name).write_bytes(data)
    assert message(lambda: check_intact(folder)) == (
        f"{folder / name}: damaged, its contents changed since it was written; copy it again."
    )


def test_a_file_of_another_size_is_reported_with_both_sizes(folder):
    path = folder / "config.json"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b" " * 1000)
    assert message(lambda: check_intact(folder)) == (
        f"{path}: damaged, it has {size + 1000:,} bytes of {size:,}; copy it again or use another checkpoint."
    )


def test_a_pipe_is_not_read(folder):
    path = folder / "config.json"
    path.unlink()
    os.mkfifo(path)
    assert message(lambda: check_intact(folder)) == (
        f"{path}: damaged, this is not a plain file; copy it again or use another checkpoint."
    )


def test_removal_takes_links_and_leaves_what_they_point_to(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    inner = tmp_path / "folder"
    inner.mkdir()
    (inner / "link").symlink_to(outside)
    link = tmp_path / "link"
    link.symlink_to(outside)
    for path in (inner, link, tmp_path / "never-there"):
        remove_folder(path)
        assert not path.exists() and not path.is_symlink()
    assert (outside / "precious").read_text() == "x"
