"""Sequences that lie end to end on a GPU: the kernel for any length gives what rows with padding give."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing import assert_close

from regard.models.base.settings import Vocabularies
from regard.models.bert import BertSettings
from regard.models.families import build_model
from regard.nn.attention.varlen import VarlenLayout

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

LENGTHS = [60, 1, 0, 33, 64, 17]


def batch():
    draw = torch.Generator().manual_seed(0)
    lengths = torch.tensor(LENGTHS)
    token_mask = torch.arange(64) < lengths[:, None]
    tokens = torch.randint(5, 300, (len(LENGTHS), 64), generator=draw)
    segments = (torch.arange(64) >= 20).long().expand_as(tokens)
    positions = torch.arange(64).expand_as(tokens)
    bounds = torch.cat((torch.zeros(1, dtype=torch.long), lengths.cumsum(0))).int()
    padded = [each.cuda() for each in (tokens, segments, token_mask)]
    return padded, [each.cuda() for each in (tokens[token_mask], segments[token_mask], positions[token_mask], bounds)]


def small_bert(**changes):
    torch.manual_seed(0)
    sizes = {"width": 128, "heads": 2, "feed_forward_width": 256, "layers": 2, "max_positions": 64}
    still = {"dropout": 0.0, "attention_dropout": 0.0, "embedding_dropout": 0.0}
    return build_model(BertSettings(**(sizes | still | changes)), Vocabularies(300, 300, True))


@pytest.mark.parametrize("changes", [{}, {"key_value_heads": 1}, {"positions": "rotary"}], ids=str)
def test_the_kernel_takes_what_it_is_given(changes, monkeypatch):
    """Without values, its shapes and those of its gradients can be worked out anywhere."""
    monkeypatch.setattr(VarlenLayout, "has_kernel_for", lambda lay, packed, head_width: True)
    with FakeTensorMode():
        model = small_bert(**changes, attention_dropout=0.1).train()
        tokens, bounds = torch.zeros(175, dtype=torch.long), torch.zeros(7, dtype=torch.int32)
        with torch.autocast("cpu", torch.bfloat16):
            hidden = model.hidden_states_varlen(tokens, tokens, tokens, bounds, 64)
        assert hidden.shape == (175, 128)
        hidden.float().sum().backward()
        weight = model.blocks[0].attention.query_key_value.weight
        assert weight.grad.shape == weight.shape


@on_gpu
@pytest.mark.parametrize(
    "changes", [{}, {"key_value_heads": 1}, {"positions": "rotary"}, {"positions": "alibi"}], ids=str
)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_end_to_end_gives_what_rows_give_and_the_same_gradients(dtype, changes):
    model = small_bert(**changes).cuda()
    (tokens, segments, token_mask), packed = batch()
    found = []
    for read in (
        lambda: model.hidden_states_varlen(*packed, 64),
        lambda: model.hidden_states(tokens, segments, token_mask | (token_mask.sum(1) < 1)[:, None])[token_mask],
    ):
        model.zero_grad()
        with torch.autocast("cuda", dtype, enabled=dtype != torch.float32):
            hidden = read()
            model.project(hidden).float().square().mean().backward()
        found.append((hidden.float().detach(), [each.grad for each in model.parameters() if each.grad is not None]))
    tolerance = 1e-4 if dtype == torch.float32 else 5e-2
    assert_close(found[0][0], found[1][0], atol=tolerance, rtol=0)
    for one, other in zip(found[0][1], found[1][1], strict=True):
        assert one.isfinite().all()
        assert (one - other).norm() <= 5e-2 * other.norm() + 1e-5


@on_gpu
def test_dropout_acts_on_attention_in_training_only():
    model, packed = small_bert(attention_dropout=0.5).cuda(), batch()[1]
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
        calm = model.eval().hidden_states_varlen(*packed, 64)
        assert torch.equal(model.hidden_states_varlen(*packed, 64), calm)
        assert not torch.allclose(model.train().hidden_states_varlen(*packed, 64), calm, atol=1e-2)


@pytest.mark.filterwarnings("ignore")  # what torch warns of while it compiles is its own affair
@on_gpu
def test_blocks_compile_for_sequences_end_to_end():
    from regard.training.device.compile import compile_blocks

    model, packed = small_bert().cuda(), batch()[1]
    with torch.autocast("cuda", torch.bfloat16):
        with torch.no_grad():
            expected = model.train().hidden_states_varlen(*packed, 64).float()
        compile_blocks(model)
        found = model.hidden_states_varlen(*packed, 64)
        found.float().square().mean().backward()
    assert_close(found.float().detach(), expected, atol=5e-2, rtol=0)
