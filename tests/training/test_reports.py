import json
import sys
import types

from regard.training import MetricsLog


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
