"""The scripts of the page on clusters, run by processes of this machine."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from parallel_scenes import free_port
from regard.tasks.translate.settings import PairRunSettings
from regard.training.settings import MachineSettings, TrainSettings

PAGE = (Path(__file__).parents[2] / "docs" / "cluster.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^```bash\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
STAND_INS = {
    "scontrol": "#!/bin/sh\necho 127.0.0.1\n",
    "srun": '#!/bin/sh\n"$@" & first=$!\n"$@" & second=$!\nwait $first && wait $second\n',
    "torchrun": f'#!/bin/sh\nexec {sys.executable} -m torch.distributed.run "$@"\n',
}
"""Programs of a cluster, which start two nodes on this one."""
TINY = (
    "data.train.max_rows=60 data.valid.max_rows=5 text.size=600 model.width=16 train.steps=3 train.warmup=1 "
    "validation.bleu_sentences=0 preflight=false data.test.test.max_rows=1 data.test.unseen-pairs.max_rows=1 "
    "data.test.unseen-cases.max_rows=1 data.test.unseen-depth.max_rows=1"
)


def test_every_setting_of_the_page_exists():
    schemas = {"train": TrainSettings, "machine": MachineSettings}
    names = re.findall(r"\b(train|machine)\.(\w+)=", PAGE)
    assert len(names) >= 4
    for group, name in names:
        assert name in schemas[group].model_fields and group in PairRunSettings.model_fields, name


@pytest.mark.slow
def test_the_script_of_slurm_trains_on_two_nodes(tmp_path):
    (script,) = [each for each in SCRIPTS if "srun" in each]
    for name, text in STAND_INS.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    for old, new in (
        ("--nproc-per-node 8", "--nproc-per-node 1"),
        ("29500", free_port()),
        ("recipe.toml", f"translate-miniature {TINY}"),
        ("/shared/run", "run"),
    ):
        assert old in script
        script = script.replace(old, new)
    environment = {"SLURM_NNODES": "2", "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "all"}
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        env=os.environ | environment | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Use it: regard translate") == 1
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["machine"]["processes"] == 2 and record["process"]["launch"] == "7"
