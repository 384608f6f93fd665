"""Checkpoints with all weights in one file, also of those that several processes wrote."""

import json
import shutil

import pytest
import torch

from bundles import small_bundle
from labeled import word_tokenizer
from parallel_scenes import together
from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.bundle import read_bundle, write_bundle
from regard.checkpoint.shards import write_shards
from regard.errors import CheckpointError
from regard.progress import SILENT
from regard.runs.export.checkpoint import EXPORTER
from regard.runs.export.exporters import export


def parts(team, out):
    """Write the weights of a bundle by several processes, as a sharded training does."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    weights = dict(read_bundle(out / "plain").model.named_parameters())
    mesh = init_device_mesh("cpu", (team.size,))
    write_shards(
        out / "parts" / "model",
        {name: distribute_tensor(each.detach(), mesh, [Shard(0)]) for name, each in weights.items()},
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    out = tmp_path_factory.mktemp("parts")
    bundle = small_bundle({"tokenizer": word_tokenizer("a b c")})
    write_bundle(out / "plain", bundle)
    (out / "parts").mkdir()
    together(2, "test_checkpoint_exporter:parts", out)
    write_bundle(out / "sharded", bundle, weights=out / "parts")
    return out, bundle


def test_a_checkpoint_of_parts_is_read_and_becomes_one_file(written, tmp_path):
    out, bundle = written
    names = sorted(json.loads((out / "sharded" / "manifest.json").read_text()))
    assert [name for name in names if "shard-" in name] == [
        f"model/shard-0000{rank}-model-00001-of-00001.safetensors" for rank in (1, 2)
    ]
    folder = export(out / "sharded", tmp_path / "single", "checkpoint")
    assert fingerprint(folder / "model.safetensors") == fingerprint(out / "plain" / "model.safetensors")
    for where in (out / "sharded", folder):
        model = dict(read_bundle(where).model.named_parameters())
        assert all(torch.equal(model[name], value) for name, value in bundle.model.named_parameters())
    with pytest.raises(CheckpointError, match="single: this exists; name another folder with --out"):
        EXPORTER.write(bundle, folder, SILENT)


def test_a_checkpoint_without_one_of_its_parts_is_refused(written, tmp_path):
    folder = tmp_path / "copied"
    shutil.copytree(written[0] / "sharded", folder)
    lost = next((folder / "model").glob("shard-00002*"))
    lost.unlink()
    with pytest.raises(CheckpointError, match=f"{lost.name}: missing, so the checkpoint is incomplete"):
        read_bundle(folder)
