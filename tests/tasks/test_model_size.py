"""A model too large to train is refused before it is built."""

from types import SimpleNamespace

import pytest

from regard.errors import ConfigError
from regard.tasks.model_size import check_size


def test_weights_gradients_and_moments_must_fit_in_memory():
    machine = SimpleNamespace(memory=16 * 1000, device="cpu")
    check_size(1000, machine)
    with pytest.raises(ConfigError):
        check_size(1001, machine)


def test_the_refusal_names_sizes_and_the_way_out():
    machine = SimpleNamespace(memory=2**34, device="cuda:1")
    with pytest.raises(ConfigError) as error:
        check_size(2**32, machine)
    assert str(error.value) == (
        "model: these sizes make 4,294,967,296 parameters; training takes 64 GiB of the 16 GiB on cuda:1; choose a "
        "smaller preset or smaller widths."
    )
