"""Files of a Hugging Face folder are read without surprises, and written all or none."""

import json
import os

import pytest
import safetensors.torch
import torch

from regard.errors import CheckpointError
from regard.interop.huggingface.folder import (
    check_shapes,
    fill,
    read_config,
    read_object,
    read_tensors,
    write_new_folder,
    write_tensors,
)
from regard.interop.huggingface.schemas import Config
from regard.models.base.settings import Vocabularies
from small import small_settings, small_transformer

TENSORS = {"a": torch.arange(6.0).view(2, 3), "b": torch.ones(2, dtype=torch.bfloat16)}


def message(call) -> str:
    with pytest.raises(CheckpointError) as error:
        call()
    return str(error.value)


def test_tensors_round_trip_in_one_file_or_in_shards(tmp_path):
    write_tensors(tmp_path, TENSORS)
    whole = read_tensors(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    for name, tensor in TENSORS.items():
        safetensors.torch.save_file({name: tensor}, tmp_path / f"{name}.safetensors")
    index = {"weight_map": {name: f"{name}.safetensors" for name in TENSORS}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    for read in (whole, read_tensors(tmp_path)):
        assert read.keys() == TENSORS.keys()
        assert all(
            torch.equal(read[name], TENSORS[name]) and read[name].dtype == TENSORS[name].dtype for name in read
        )


def test_no_shard_is_outside_of_the_folder(tmp_path):
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "../a.safetensors"}}))
    assert message(lambda: read_tensors(tmp_path)).startswith(f"{tmp_path / 'model.safetensors.index.json'}: ")


def test_pickles_and_pipes_are_not_opened(tmp_path):
    assert (
        message(lambda: read_tensors(tmp_path)) == f"{tmp_path}: there is no model.safetensors here; copy it again."
    )
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    assert "its weights are pickled (.bin), and loading those may run code" in message(lambda: read_tensors(tmp_path))
    os.mkfifo(tmp_path / "model.safetensors")
    assert message(lambda: read_tensors(tmp_path)) == (
        f"{tmp_path / 'model.safetensors'}: this is not a plain file; copy it again."
    )


def test_an_absent_json_file_is_empty_and_a_broken_link_is_not(tmp_path):
    path = tmp_path / "config.json"
    assert read_object(path, Config) == {}
    path.symlink_to(tmp_path / "blob")
    assert message(lambda: read_object(path, Config)) == f"{path}: the file it links to is missing; copy it again."
    (tmp_path / "blob").write_text('{"model_type": "x", "unknown_key": [1]}')
    assert read_object(path, Config) == {"model_type": "x", "unknown_key": [1]}


def test_a_folder_that_is_not_hugging_faces_is_refused(tmp_path):
    assert message(lambda: read_config(tmp_path / "no")) == (
        f"{tmp_path / 'no'}: there is no such folder; check the path."
    )
    assert message(lambda: read_config(tmp_path)).endswith(
        "so this is no Hugging Face model; give a run without hf:."
    )
    (tmp_path / "config.json").write_text('{"regard": "0.2", "model": {}}')
    assert message(lambda: read_config(tmp_path)) == (
        f"{tmp_path}: this is a regard checkpoint already; use it as it is."
    )


def test_weights_fill_a_model_under_all_their_names():
    source, target = small_transformer(seed=1), small_transformer(seed=2)
    weights = dict(source.state_dict())
    vocabularies = Vocabularies(40, 40, True)
    check_shapes(small_settings(), vocabularies, weights, "a folder")
    fill(target, weights)
    assert all(torch.equal(value, weights[name]) for name, value in target.state_dict().items())
    weights["head.weight"] = torch.zeros(41, 16)
    assert message(lambda: check_shapes(small_settings(), vocabularies, weights, "a folder")) == (
        "a folder: what becomes head.weight has shape (41, 16), but config.json asks for (40, 16); copy it again."
    )


def test_a_folder_is_written_all_or_none(tmp_path):
    def fails(folder):
        write_tensors(folder, TENSORS)
        raise OSError(28, "No space left on device")

    assert message(lambda: write_new_folder(tmp_path / "a", fails)) == (
        f"{tmp_path / 'a'}: it could not be written (No space left on device); free some space or name "
        "another folder."
    )
    assert not list(tmp_path.iterdir())
    write_new_folder(tmp_path / "a", lambda folder: write_tensors(folder, TENSORS))
    assert message(lambda: write_new_folder(tmp_path / "a", fails)).endswith(
        "it exists already; name a folder that does not."
    )
    assert read_tensors(tmp_path / "a").keys() == TENSORS.keys()
