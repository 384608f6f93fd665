"""The scores at the end of a run, computed by all of its processes."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from regard.runs import final_scores as module
from regard.runs.final_scores import final_scores
from regard.training.parallel import division
from regard.training.parallel.process_group import ProcessGroup

TINY = (
    "data.train.max_rows=60 data.valid.max_rows=5 text.size=600 model.width=16 train.steps=2 train.warmup=1 "
    "validation.bleu_sentences=3 preflight=false data.test.test.max_rows=5 data.test.unseen-pairs.max_rows=1 "
    "data.test.unseen-cases.max_rows=1 data.test.unseen-depth.max_rows=1"
)


def test_the_best_checkpoint_is_scored_by_all_processes_of_the_training(monkeypatch):
    team, waited, progress = ProcessGroup(), [], object()
    monkeypatch.setattr(ProcessGroup, "wait", lambda self: waited.append(self))
    monkeypatch.setattr(module, "load", lambda path, device: (path, device))

    def scored(task, run, pipeline, prepared, given):
        assert division._team is team and given is progress and waited == [team]
        return {"test": pipeline}

    monkeypatch.setattr(module, "score_run", scored)
    prepared = SimpleNamespace(bundle=SimpleNamespace(model=torch.nn.Linear(2, 2)))
    scores = final_scores(SimpleNamespace(best="best"), None, prepared, SimpleNamespace(team=team), progress)
    assert scores == {"test": ("best", "cpu")} and division._team is not team


def regard(folder, *words):
    done = subprocess.run(
        [sys.executable, "-m", "regard", *words],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["train.distributed=shard", "train.tensor_parallel=2"])
def test_two_processes_score_as_one(setting, tmp_path):
    regard(tmp_path, "train", "translate-miniature", "--processes", "2", "--out", "run", *TINY.split(), setting)
    record = json.loads((tmp_path / "run" / "run.json").read_text())["scores"]
    for count in ("1", "2"):
        printed = json.loads(regard(tmp_path, "evaluate", "run", "--processes", count, "--json", "--quiet"))
        assert printed.keys() == record.keys()
        for name, values in printed.items():
            for key in ("sentences", "bleu", "chrf", "ter", "loss", "perplexity"):
                assert values[key] == pytest.approx(record[name][key], rel=1e-5), (name, key)
