import subprocess
import sys
import time

import pytest

from regard.processes import (
    BEGAN,
    LOADED,
    command_began,
    end,
    is_main_process,
    is_reporter,
    is_restarted,
    is_started,
    launch_id,
    process_began,
    process_facts,
    quiet_torch,
    set_reporter,
    world_size,
)


@pytest.fixture(autouse=True)
def unstarted(monkeypatch):
    for name in (
        "RANK",
        "WORLD_SIZE",
        "TORCHELASTIC_RUN_ID",
        "TORCHELASTIC_RESTART_COUNT",
        "TORCH_CPP_LOG_LEVEL",
        BEGAN,
    ):
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


def test_a_command_began_before_its_imports():
    code = "import time; time.sleep(0.3); from regard.processes import command_began; print(command_began())"
    before = time.monotonic()
    began = float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
    assert before - 0.1 <= began <= time.monotonic() - 0.3
    assert process_began() <= LOADED


def test_processes_that_a_command_starts_count_from_its_beginning_but_for_a_restart(monkeypatch):
    monkeypatch.setenv(BEGAN, "12.5")
    assert command_began() == 12.5
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    assert command_began() == pytest.approx(process_began(), abs=0.1)


def test_without_a_list_of_processes_the_imports_are_the_beginning(monkeypatch):
    assert process_facts(-1) is None
    monkeypatch.setattr("regard.processes.process_facts", lambda pid: None)
    assert process_began() == LOADED
