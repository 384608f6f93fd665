import json

import pytest

from regard.errors import RunError
from regard.training.reports.metrics_log import MetricsLog, read_metrics


def lines(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_a_resumed_log_forgets_what_lies_past_its_step_and_a_line_cut_short(tmp_path):
    with MetricsLog(tmp_path, step=0, loggers={}) as log:
        for step in (1, 2, 3):
            log.write({"step": step, "loss": 1.0 / step})
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')
    with MetricsLog(tmp_path, step=2, loggers={}) as log:
        log.write({"step": 3, "loss": 0.5})
    assert lines(tmp_path) == [{"step": 1, "loss": 1.0}, {"step": 2, "loss": 0.5}, {"step": 3, "loss": 0.5}]


def test_lines_damaged_on_the_disk_are_left_out(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step": 1}\n\0\0\0\n{"st\xff\n7\n{"loss": 1}\n{"step": 2}\n')
    assert read_metrics(path) == [{"step": 1}, {"step": 2}]
    MetricsLog(tmp_path, step=1, loggers={})
    assert lines(tmp_path) == [{"step": 1}]


def test_a_full_disk_is_one_sentence_and_the_records_before_stay(tmp_path):
    resource = pytest.importorskip("resource")
    log = MetricsLog(tmp_path, step=0, loggers={})
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


class Kept:
    """A logger that keeps what it is given, or fails as one whose server is away."""

    def __init__(self, error=None):
        self.seen, self.error = [], error

    def write(self, record):
        if self.error:
            raise self.error
        self.seen.append(dict(record))

    def close(self):
        self.seen.append("closed")


def test_loggers_get_every_line_and_are_closed(tmp_path):
    kept = Kept()
    with MetricsLog(tmp_path, 0, {"wandb": kept}) as log:
        log.write({"step": 7, "loss": 2.0})
    assert kept.seen == [*lines(tmp_path), "closed"] == [{"step": 7, "loss": 2.0}, "closed"]


def test_a_logger_that_fails_is_one_sentence_and_the_line_stays(tmp_path):
    with pytest.raises(RunError) as error, MetricsLog(tmp_path, 0, {"mlflow": Kept(OSError("no\nserver"))}) as log:
        log.write({"step": 7, "loss": 2.0})
    assert str(error.value) == (
        "train.loggers: mlflow could not log step 7 (OSError: no server); checkpoints are untouched, so resume with "
        "--resume."
    )
    assert lines(tmp_path) == [{"step": 7, "loss": 2.0}]


def test_a_silent_log_writes_nothing(tmp_path):
    with MetricsLog(tmp_path, step=0, loggers={"wandb": Kept(OSError())}, is_silent=True) as log:
        log.write({"step": 1, "loss": 2.0})
    assert list(tmp_path.iterdir()) == []
