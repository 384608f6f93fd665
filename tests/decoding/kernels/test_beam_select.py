"""The kernels that choose what runs on, against torch: on a CUDA device, or interpreted where the compiler is."""

from own_kernels import complaint, needs_kernels

CODE = """
import torch
from small import small_transformer
from regard.decoding.cuda_graphs import beam as beam_graphs
from regard.decoding.cuda_graphs.beam import BeamGraph, Rules
from regard.decoding.cuda_graphs.capture import GraphKey

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
        outputs = []
        before = [each.clone() for each in (graph.running_totals, graph.order, graph.tokens)]
        for is_fused in (False, True):
            for buffer, value in zip((graph.running_totals, graph.order, graph.tokens), before):
                buffer.copy_(value)
            beam_graphs.can_fuse = lambda logits: is_fused
            graph.static_state.step = lambda tokens, order: logits
            graph.generated.fill_(step)
            graph._step()
            names = ("candidates", "running_totals", "order", "tokens", "generated")
            outputs.append([getattr(graph, name).clone().float() for name in names])
        for plain, fused in zip(*outputs):
            token_mask = ~plain.isinf()
            assert (plain.isinf() == fused.isinf()).all()
            torch.testing.assert_close(fused[token_mask], plain[token_mask], atol=1e-5, rtol=1e-5)
"""


@needs_kernels
def test_the_kernels_choose_what_torch_chooses():
    assert complaint(CODE) == ""
