"""What one process trains, for comparison with several."""

import pytest

from parallel_scenes import train_all
from regard.training.parallel.process_group import ProcessGroup


@pytest.fixture(scope="session")
def trained_alone(made_once):
    def make(folder):
        folder.mkdir()
        train_all(ProcessGroup(), folder)

    return made_once("trained-alone", make)
