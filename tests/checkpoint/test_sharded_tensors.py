"""Tensors written by several processes and read by any number of them."""

import shutil

import pytest
import torch

from parallel_scenes import together
from regard.checkpoint.shards import read_shards, shapes_of_shards, write_shards
from regard.errors import CheckpointError

TENSORS = {
    "long": torch.arange(35.0).view(7, 5),
    "short": torch.arange(2.0),
    "wide": torch.arange(6, dtype=torch.float64).view(1, 6),
    "step": torch.tensor(4.0),
}


def written(team, out):
    """Write tensors, of which all but a number are sharded; some processes hold nothing of the short ones."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (team.size,))
    sharded = {
        name: distribute_tensor(each, mesh, [Shard(0)]) if each.dim() else each for name, each in TENSORS.items()
    }
    write_shards(out / "model", sharded)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("shards")
    together(3, "test_sharded_tensors:written", out)
    return out / "model"


def test_any_process_reads_whole_tensors_of_files_without_pickle(folder):
    assert {path.suffix for path in folder.iterdir()} == {".safetensors"} and len(list(folder.iterdir())) == 3
    again = read_shards(folder)
    assert again.keys() == TENSORS.keys()
    assert all(torch.equal(again[name], each) and again[name].dtype == each.dtype for name, each in TENSORS.items())
    assert shapes_of_shards(folder) == {name: tuple(each.shape) for name, each in TENSORS.items()}


def test_a_missing_or_damaged_part_is_refused(folder, tmp_path):
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    part = sorted(copied.iterdir())[0]
    part.unlink()
    with pytest.raises(CheckpointError, match=r"copied: damaged \(.* values of .* are there\)"):
        read_shards(copied)
    part.write_bytes(b"not a header")
    with pytest.raises(CheckpointError, match="copied: damaged"):
        shapes_of_shards(copied)
