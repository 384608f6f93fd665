"""Column sums by a kernel: on a CUDA device, or interpreted where Triton has none."""

import torch
from torch.testing import assert_close

from own_kernels import failure, needs_kernels


def check():
    from regard.nn.kernels.column_sum import column_sums

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    for rows, columns in ((1, 1), (127, 15), (128, 16), (300, 33)):  # below, at and above the size of a tile
        matrix = torch.randn(rows, columns, device=device)
        assert_close(column_sums(matrix), matrix.double().sum(0).float(), atol=1e-4, rtol=1e-4)


@needs_kernels
def test_columns_are_summed_for_all_sizes_of_a_matrix():
    assert failure(check) == ""
