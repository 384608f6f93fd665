"""The kernel against the plain way: on a CUDA device, or interpreted where the compiler is installed without one."""

from own_kernels import complaint, needs_kernels

CODE = """
import sys
import torch
from regard.objectives.cross_entropy import cross_entropy

module = sys.modules["regard.objectives.cross_entropy"]
device = "cuda" if torch.cuda.is_available() else "cpu"
module.CHUNK_ELEMENTS[device] = 5001 * 3
torch.manual_seed(0)
leaves = [torch.randn(*shape, device=device, requires_grad=True) for shape in ((7, 16), (5001, 16), (5001,))]
labels = torch.randint(0, 5001, (7,), device=device)
labels[3] = -1
found = []
for is_fused in (False, True):
    module.can_fuse = lambda hidden: is_fused
    for leaf in leaves:
        leaf.grad = None
    both = cross_entropy(*leaves, labels, 0.1)
    both.smoothed.backward()
    found.append([*both, *(leaf.grad for leaf in leaves)])
for plain, fused in zip(*found, strict=True):
    torch.testing.assert_close(fused, plain, atol=1e-4, rtol=1e-5)
with torch.no_grad():
    torch.testing.assert_close(cross_entropy(*leaves, labels, 0.1).smoothed, found[0][0].detach())
"""


@needs_kernels
def test_the_kernel_gives_the_same_sums_and_gradients():
    assert complaint(CODE) == ""
