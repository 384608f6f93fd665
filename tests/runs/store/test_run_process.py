"""Which process trains a run, and whether torchrun started it before it started all again."""

import os
from pathlib import Path

import pytest

from regard.runs.store.process import is_alive, is_of_this_launch, this_process
from regard.tasks.record import ProcessRecord


def test_this_process_is_alive_and_one_with_another_beginning_is_not():
    mine = ProcessRecord(**this_process())
    assert is_alive(mine) and mine.pid == os.getpid()
    assert is_alive(mine.model_copy(update={"began": 1})) is (None if mine.began is None else False)
    assert is_alive(mine.model_copy(update={"host": "elsewhere"})) is None


@pytest.mark.parametrize(
    "restarts, launch, changes, expected",
    [
        ("1", "job", {}, True),
        ("0", "job", {}, False),
        ("1", "another", {}, False),
        ("1", "job", {"began": 0}, False),  # an older launch of the same name: torchrun had not begun yet
        ("1", "job", {"began": 0, "host": "elsewhere"}, True),
    ],
)
def test_a_restart_goes_on_with_what_its_own_launch_began(restarts, launch, changes, expected, monkeypatch):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "job")
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", restarts)
    process = ProcessRecord(**this_process() | {"launch": launch} | changes)
    if changes == {"began": 0} and not Path("/proc").exists():
        pytest.skip("when processes began is not known here")
    assert is_of_this_launch(process) is expected
