import json
import sys
import types

import pytest

from regard.errors import RunError
from regard.training.metrics_log import MetricsLog, read_metrics


def lines(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_a_resumed_log_forgets_what_lies_past_its_step_and_a_line_cut_short(tmp_path):
    with MetricsLog(tmp_path, step=0, with_tensorboard=False) as log:
        for step in (1, 2, 3):
            log.write({"step": step, "loss": 1.0 / step})
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')
    with MetricsLog(tmp_path, step=2, with_tensorboard=False) as log:
        log.write({"step": 3, "loss": 0.5})
    assert lines(tmp_path) == [{"step": 1, "loss": 1.0}, {"step": 2, "loss": 0.5}, {"step": 3, "loss": 0.5}]


def test_lines_damaged_on_the_disk_are_left_out(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step": 1}\n\0\0\0\n{"st\xff\n7\n{"loss": 1}\n{"step": 2}\n')
    assert read_metrics(path) == [{"step": 1}, {"step": 2}]
    MetricsLog(tmp_path, step=1, with_tensorboard=False)
    assert lines(tmp_path) == [{"step": 1}]


def test_a_full_disk_is_one_sentence_and_the_records_before_stay(tmp_path):
    resource = pytest.importorskip("resource")
    log = MetricsLog(tmp_path, step=0, with_tensorboard=False)
    log.write({"step": 1, "loss": 2.0})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30, before[1]))
    try:
        with pytest.raises(RunError) as error:
            log.write({"step": 2, "loss": 1.0})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(error.value) == (
        f"{tmp_path / 'metrics.jsonl'}: the training metrics could not be written (File too large); checkpoints are "
        "untouched, so free some space and resume with --resume."
    )
    assert read_metrics(tmp_path / "metrics.jsonl") == [{"step": 1, "loss": 2.0}]


def test_curves_reach_tensorboard_where_it_is_installed(tmp_path, monkeypatch):
    seen = []

    class SummaryWriter:
        def __init__(self, folder, purge_step):
            assert purge_step == 1  # what a killed run wrote past its checkpoint is forgotten
            seen.append(folder)

        def add_scalar(self, name, value, step):
            seen.append((name, value, step))

        def close(self):
            seen.append("closed")

    fake = types.ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    with MetricsLog(tmp_path, step=0, with_tensorboard=True) as log:
        log.write({"step": 7, "loss": 2.0})
    assert seen == [str(tmp_path / "tensorboard"), ("step", 7, 7), ("loss", 2.0, 7), "closed"]


def test_without_tensorboard_nothing_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with MetricsLog(tmp_path, step=0, with_tensorboard=True) as log:
        log.write({"step": 1, "loss": 2.0})
    assert lines(tmp_path) == [{"step": 1, "loss": 2.0}]


def test_a_silent_log_writes_nothing(tmp_path):
    with MetricsLog(tmp_path, step=0, with_tensorboard=True, is_silent=True) as log:
        log.write({"step": 1, "loss": 2.0})
    assert list(tmp_path.iterdir()) == []
