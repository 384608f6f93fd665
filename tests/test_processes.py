import pytest

from regard.processes import (
    end,
    is_main_process,
    is_reporter,
    is_restarted,
    is_started,
    launch_id,
    quiet_torch,
    set_reporter,
    world_size,
)


@pytest.fixture(autouse=True)
def unstarted(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "TORCH_CPP_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)


def test_a_launch_is_known_by_its_name_and_the_number_of_its_restarts(monkeypatch):
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    monkeypatch.delenv("TORCHELASTIC_RESTART_COUNT", raising=False)
    assert launch_id() == "" and not is_restarted()
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "job")
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    assert launch_id() == "job" and is_restarted()


def test_a_process_that_nobody_started_is_alone_and_reports():
    assert world_size() == 1 and not is_started() and is_main_process() and is_reporter()
    with pytest.raises(SystemExit) as stop:
        end(3)
    assert stop.value.code == 3


def test_rank_0_reports_until_another_one_failed_first(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr("regard.processes._reports", None)
    assert is_started() and not is_main_process() and not is_reporter()
    set_reporter(True)
    assert is_reporter()


def test_torch_is_quiet_in_several_processes_only(monkeypatch):
    import os

    quiet_torch()
    assert "TORCH_CPP_LOG_LEVEL" not in os.environ
    monkeypatch.setenv("WORLD_SIZE", "2")
    quiet_torch()
    assert os.environ["TORCH_CPP_LOG_LEVEL"] == "ERROR"
