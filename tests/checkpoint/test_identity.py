"""A model's hash follows its files, and nothing else."""

import hashlib
import json

import pytest
import torch

from bundles import small_bundle
from regard.checkpoint.bundle import TrainingState, write_bundle
from regard.checkpoint.identity import checkpoint_path, model_hash
from regard.checkpoint.store import CheckpointStore
from regard.errors import CheckpointError
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

BUNDLE = small_bundle(
    {"tokenizer": train_tokenizer(["the dog sleeps in the garden"] * 3, TokenizerSettings(size=40))}
)
STATE = TrainingState({"step": torch.arange(3.0)}, {"step": 5})


def test_the_hash_is_that_of_the_files_without_the_training_state(tmp_path):
    write_bundle(tmp_path / "a", BUNDLE)
    write_bundle(tmp_path / "b", BUNDLE, STATE)
    files = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir() if path.name != "manifest.json"}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    expected = hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()
    assert model_hash(tmp_path / "a") == model_hash(str(tmp_path / "b")) == expected


def test_another_weight_is_another_hash(tmp_path):
    write_bundle(tmp_path / "a", BUNDLE)
    before = model_hash(tmp_path / "a")
    with torch.no_grad():
        next(BUNDLE.model.parameters())[0].add_(1)
    write_bundle(tmp_path / "b", BUNDLE)
    with torch.no_grad():
        next(BUNDLE.model.parameters())[0].sub_(1)
    assert model_hash(tmp_path / "b") != before


def test_files_of_a_hugging_face_folder_are_hashed(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "config.json").write_text("{}")
    before = model_hash(f"hf:{tmp_path}")
    (tmp_path / "inner" / "cache").write_text("not the model")
    assert model_hash(f"hf:{tmp_path}") == before
    (tmp_path / "config.json").write_text("{} ")
    assert model_hash(f"hf:{tmp_path}") != before


def test_a_checkpoint_without_a_manifest_is_incomplete(tmp_path):
    with pytest.raises(CheckpointError) as error:
        model_hash(tmp_path)
    assert str(error.value) == (
        f"{tmp_path / 'manifest.json'}: missing, so the checkpoint is incomplete; copy it again."
    )


def test_a_run_is_its_best_checkpoint_and_a_hugging_face_folder_itself(tmp_path):
    store = CheckpointStore(tmp_path / "checkpoints")
    best, latest = store.save(1, BUNDLE, STATE, 2.0), store.save(2, BUNDLE, STATE, 1.0)
    assert checkpoint_path(tmp_path) == str(best) and checkpoint_path(str(latest)) == str(latest)
    assert checkpoint_path("hf:somewhere/else") == "hf:somewhere/else"
