"""Fused beam selection against torch: on a CUDA device, or interpreted where only the compiler is installed."""

from pathlib import Path

import torch

from own_kernels import complaint, needs_kernels
from regard.decoding.cuda_graphs.beam import BeamGraph, Rules, can_fuse
from regard.decoding.cuda_graphs.capture import GraphKey
from small import small_transformer


def compare():
    """Select by torch and by the kernels from the same buffers, step after step."""
    from regard.decoding.kernels.beam_select import BeamBuffers, select

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = small_transformer().to(device)
    size = model.head.weight.size(0)
    torch.manual_seed(0)
    for min_length in (1, 3):
        graph = BeamGraph(model, GraphKey(7, 16, 3, 8), device, Rules(3, 1, 2, (0, 1, 3), min_length))
        graph.running_totals.copy_(torch.randn_like(graph.running_totals).sort(1, descending=True).values)
        graph.running_totals[0, 1:] = -torch.inf
        for step in range(4):
            logits = 4 * torch.randn(21, size, device=device)
            logits[:, 2] += step  # so that some end
            graph.generated.fill_(step)
            buffers = [graph.running_totals, graph.generated, graph.never, graph.order, graph.tokens]
            fused = BeamBuffers(*(each.clone() for each in buffers), torch.zeros_like(graph.candidates))
            select(logits, fused, graph.rules.eos_id, graph.rules.min_length)
            graph._select(logits)
            pairs = [
                (fused.candidates, graph.candidates),
                (fused.running_totals, graph.running_totals),
                (fused.order, graph.order),
                (fused.tokens, graph.tokens),
            ]
            for kernel, plain in pairs:
                is_finite = ~plain.float().isinf()
                assert (is_finite == ~kernel.float().isinf()).all()
                torch.testing.assert_close(kernel[is_finite], plain[is_finite], atol=1e-5, rtol=1e-5)


@needs_kernels
def test_the_kernels_select_what_torch_selects():
    folder = str(Path(__file__).parent)
    assert complaint(f"import sys; sys.path.insert(0, {folder!r}); import test_beam_select as t; t.compare()") == ""


def test_a_cpu_and_half_precision_never_use_the_kernels():
    assert not can_fuse(torch.zeros(2, 9))
    assert not can_fuse(torch.zeros(2, 9, dtype=torch.bfloat16, device="meta"))
