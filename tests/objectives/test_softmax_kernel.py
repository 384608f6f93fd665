"""Fused cross-entropy against the plain one: on a CUDA device, or interpreted where Triton has none."""

import sys

import torch
from torch.testing import assert_close

from own_kernels import failure, needs_kernels
from regard.objectives.cross_entropy import cross_entropy


def check():
    from regard.objectives.softmax_kernel import softmax_rows_

    module = sys.modules["regard.objectives.cross_entropy"]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    module.CHUNK_ELEMENTS[device] = 5001 * 3
    torch.manual_seed(0)
    leaves = [torch.randn(*shape, device=device, requires_grad=True) for shape in ((7, 16), (5001, 16), (5001,))]
    labels = torch.randint(0, 5001, (7,), device=device)
    labels[3] = -1
    results = []
    for is_fused in (False, True):
        module.can_fuse = lambda hidden, is_fused=is_fused: is_fused
        for leaf in leaves:
            leaf.grad = None
        both = cross_entropy(*leaves, labels, 0.1)
        both.smoothed.backward()
        results.append([*both, *(leaf.grad for leaf in leaves)])
    for plain, fused in zip(*results, strict=True):
        assert_close(fused, plain, atol=1e-4, rtol=1e-5)
    with torch.no_grad():
        assert_close(cross_entropy(*leaves, labels, 0.1).smoothed, results[0][0].detach())
    logits = torch.randn(2, 64, device=device)
    before = logits.clone()
    nll, everything = softmax_rows_(logits, torch.tensor([4, -1], device=device), 0.0, False, 60)
    log_p = before[0, :60].log_softmax(0)  # the last four columns are padding
    assert_close((nll[0], everything[0]), (-log_p[4], -log_p.sum()), atol=1e-4, rtol=1e-5)
    assert nll[1] == everything[1] == 0 and torch.equal(logits, before)


@needs_kernels
def test_the_kernel_gives_the_same_sums_and_gradients():
    assert failure(check) == ""
