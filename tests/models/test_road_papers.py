"""What the papers write, word by word, beside what the models compute."""

import math

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from regard.models.base.settings import Vocabularies
from regard.models.convolutional import ConvolutionalSettings
from regard.models.families import build_model
from regard.models.recurrent.seq2seq import RecurrentSettings
from small import VOCABULARY, random_tokens, sources

STILL = {"width": 8, "embedding_width": 6, "dropout": 0.0, "embedding_dropout": 0.0}


def built(settings):
    torch.manual_seed(0)
    model = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True)).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model.train()


def assert_same_learning(model, logits, expected):
    """Compare values, and the gradients of all parameters."""
    assert_close(logits, expected, rtol=1e-9, atol=1e-9)
    torch.manual_seed(1)
    weights = torch.randn_like(logits)
    parameters = list(model.parameters())
    found, wanted = (torch.autograd.grad((each * weights).sum(), parameters) for each in (logits, expected))
    assert_close(found, wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("attends", ["before", "after", "feeding"])
def test_a_decoder_with_attention_is_the_plain_loop_of_its_paper(attends):
    """Bahdanau et al., 2015: c_i of s_{i-1} goes into the step. Luong et al., 2015: c_i of s_i; readouts are fed."""
    changes = {} if attends == "before" else {"attends": "after", "has_input_feeding": attends == "feeding"}
    model = built(RecurrentSettings(alignment="additive", alignment_width=5, **STILL, **changes))
    (source, token_mask), target = sources([6, 4]), random_tokens(2, 5, seed=1)
    decoder, score = model.decoder, model.decoder.cross.alignment
    cell = list(decoder.layers[0].fused.parameters())  # W_x, W_h and their biases

    memory = model.encode(source, token_mask)
    h, s = memory.states, torch.tanh(decoder.bridge(memory.summary))

    def context(state):
        e = torch.tanh((state @ score.query.weight.T)[:, None] + h @ score.key.weight.T + score.key.bias)
        weights = (e @ score.vector).masked_fill(~token_mask, -math.inf).softmax(-1)  # (B, S)
        return (weights[:, :, None] * h).sum(1)

    read, logits = h.new_zeros(2, 6), []
    for words in target.unbind(1):
        y = decoder.embedding.table(words) * math.sqrt(6)
        if attends == "before":
            c = context(s)
            s = torch.gru_cell(torch.cat((y, c), -1), s, *cell)
        else:
            s = torch.gru_cell(torch.cat((y, read), -1) if attends == "feeding" else y, s, *cell)
            c = context(s)
        read = torch.tanh(decoder.readout(torch.cat((s, y, c), -1)))
        logits.append(read @ model.head.weight.T + model.head.bias)
    assert_same_learning(model, model(source, token_mask, target), torch.stack(logits, 1))


def convolved(module, x):
    """Return GLU(conv(x)) of positions (T + kernel - 1, D), by torch's own convolution."""
    weight = module.windows.weight.unflatten(1, (module.kernel, -1)).transpose(1, 2)  # (2 D, D, kernel)
    a, b = F.conv1d(x.T[None], weight, module.windows.bias)[0].T.chunk(2, -1)
    return a * torch.sigmoid(b)


def test_convs2s_is_what_its_paper_writes():
    """Gehring et al., 2017, §3: sums of two times √½, the source of m words times m √(1/m)."""
    model = built(ConvolutionalSettings(kernel=3, encoder_layers=2, decoder_layers=2, **STILL)).eval()
    source, target = random_tokens(1, 7), random_tokens(1, 5, seed=1)
    encoder, decoder, half = model.encoder, model.decoder, math.sqrt(0.5)

    def embedded(side, tokens):
        return side.embedding.table(tokens[0]) + side.embedding.positions.table.weight[: tokens.size(1)]

    e = embedded(encoder, source)
    x = encoder.inner(e)
    for block in encoder.blocks:
        x = (convolved(block, F.pad(x, (0, 0, 1, 1))) + x) * half
    z = encoder.outer(x)
    g = embedded(decoder, target)
    x = decoder.inner(g)
    for block in decoder.blocks:
        h = convolved(block.convolution, F.pad(x, (0, 0, 2, 0)))
        d = (block.query(h) + g) * half
        c = (d @ z.T).softmax(-1) @ ((z + e) * half) * (7 * math.sqrt(1 / 7))
        x = ((h + block.output(c)) * half + x) * half
    expected = decoder.outer(x) @ model.head.weight.T + model.head.bias
    token_mask = torch.ones(1, 7, dtype=torch.bool)
    assert_same_learning(model, model(source, token_mask, target)[0], expected)


def test_the_encoder_of_convs2s_learns_at_its_own_pace():
    """§3.4: its gradients are scaled down by how many attentions send one, those of the source words are not."""
    model = built(ConvolutionalSettings(kernel=3, encoder_layers=1, decoder_layers=3, embeddings="separate", **STILL))
    (source, token_mask), target = sources([6, 4]), random_tokens(2, 5, seed=1)
    parts = [model.encoder.blocks[0].windows.weight, model.decoder.blocks[0].convolution.windows.weight]
    found, plain = (
        torch.autograd.grad(model.train(is_training)(source, token_mask, target).square().sum(), parts)
        for is_training in (True, False)
    )
    assert_close(found[0], plain[0] / 6)
    assert_close(found[1], plain[1])
