"""Runs for the studio's tests: one of each task, and a translator that has learned a little."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from browsing import copy_runs

from regard.pipelines.base import AnyPipeline
from regard.tasks.load import load


@pytest.fixture(scope="session")
def pipeline_of(tiny_runs) -> Callable[[str], AnyPipeline]:
    """The pipeline of the tiny run of a task."""
    return cache(lambda name: load(tiny_runs / name))


@pytest.fixture(scope="session")
def translator(quick_run) -> AnyPipeline:
    """A translator that has learned a little."""
    return load(quick_run.path)


@pytest.fixture(scope="session")
def studio_runs(tiny_runs, quick_run, tmp_path_factory) -> Path:
    """A folder of runs, one of them broken."""
    return copy_runs(tiny_runs, quick_run.path, tmp_path_factory.mktemp("studio") / "runs")
