import pytest

from regard.errors import ConfigError
from regard.training.device.machine import choose_device, use_threads


@pytest.mark.parametrize("count", [0, -1, 100_000])
def test_threads_that_no_machine_has_are_refused(count):
    with pytest.raises(ConfigError, match=f"machine.threads: {count} is out of range; give 1 to "):
        use_threads(count)


@pytest.mark.parametrize("name", ["cpu:", "cpu:x", "cuda:-1", "cuda:²", "cuda:" + "9" * 5000, "", "tpu"])
def test_a_device_that_is_none_is_named(name):
    with pytest.raises(ConfigError, match="is not one of auto, cpu, cuda, cuda:N, mps"):
        choose_device(name)
