import pytest
import torch
from torch import nn

from regard.nn.inference.threads import WORTH_SHARING, threads_for


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def threads_within(model, rows):
    with threads_for(model, rows):
        return torch.get_num_threads()


def test_small_products_use_one_thread_and_large_ones_all(two_threads):
    model = nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64))  # 4,096 multiplications a row; biases do not count
    limit = WORTH_SHARING // 4096
    assert threads_within(model, limit - 1) == 1 and torch.get_num_threads() == 2
    assert threads_within(model, limit) == 2


def test_the_number_of_threads_is_restored_after_an_error(two_threads):
    with pytest.raises(KeyError), threads_for(nn.Linear(4, 4), 1):
        assert torch.get_num_threads() == 1
        raise KeyError
    assert torch.get_num_threads() == 2


def test_models_without_matrices_or_on_other_devices_keep_all_threads(two_threads):
    assert threads_within(nn.LayerNorm(4), 1) == 2
    assert threads_within(nn.Linear(4, 4, device="meta"), 1) == 2
