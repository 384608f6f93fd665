"""Cross-entropy over a vocabulary that processes split, here by a group of one (several: `test_tensor`)."""

import pytest
import torch
import torch.distributed as dist
from torch.testing import assert_close

from regard.nn.layers.dtensor import is_dtensor, is_whole_on_gpu, local, logits_of, whole
from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.split_vocabulary import VocabularyShard, split


@pytest.fixture
def mesh():
    from torch.distributed.device_mesh import init_device_mesh

    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


def test_loss_and_gradients_are_those_of_a_whole_vocabulary(mesh):
    from torch.distributed.tensor import Shard, distribute_tensor

    torch.manual_seed(0)
    hidden, weight, bias = (torch.randn(shape, dtype=torch.float64) for shape in ((9, 4), (7, 4), (7,)))
    labels = torch.tensor([0, 6, 3, -1, 2, 2, 5, 1, 4])
    outcomes = []
    for parts in (False, True):
        x = hidden.clone().requires_grad_()
        w, b = ((distribute_tensor(each, mesh, [Shard(0)]) if parts else each.clone()) for each in (weight, bias))
        w.requires_grad_(), b.requires_grad_()
        assert is_dtensor(w) == parts and local(w).equal(weight) and not is_whole_on_gpu(w)
        sums = cross_entropy(x, w, b, labels, 0.1)
        (2 * sums.smoothed).backward()
        gradients = x.grad, *(whole(each.grad) for each in (w, b))
        outcomes.append((sums.smoothed.detach(), sums.plain, *gradients, logits_of(hidden, w, b).detach()))
    for one, several in zip(*outcomes, strict=True):
        assert_close(several, one, atol=1e-12, rtol=0)


def test_each_process_finds_the_columns_of_its_own_labels(mesh):
    from torch.distributed.tensor import Shard, distribute_tensor

    share = VocabularyShard(distribute_tensor(torch.ones(5, 2), mesh, [Shard(0)]))
    share.first = 3  # as the second of two processes has it
    columns, is_own = share.of_labels(torch.tensor([[2], [3], [4]]), 2)
    assert columns.flatten().tolist() == [0, 0, 1] and is_own.flatten().tolist() == [False, True, True]
    assert share.log_normalizer(torch.zeros(1, 2)).exp().tolist() == [[2.0]]
    plain = torch.ones(2, 2)
    assert split(plain, None) == (plain, None, None)
