"""The same weights in Hugging Face's Marian give the same logits and the same translations."""

import pytest
import torch
from torch.testing import assert_close

from regard.interop.huggingface.seq2seq_weights import feature_order
from small import VOCABULARY, random_tokens, small_transformer


@pytest.fixture(scope="module")
def both():
    from marian import marian_like

    ours = small_transformer()
    theirs = marian_like(ours, VOCABULARY, padding=0, start=2, end=3).eval()
    theirs.config._attn_implementation = "eager"
    return ours, theirs


def test_logits_are_equal(both):
    ours, theirs = both
    source, target = random_tokens(3, 7), random_tokens(3, 6, seed=1)
    token_mask = torch.arange(7) < torch.tensor([[7], [4], [2]])
    with torch.no_grad():
        expected = theirs(input_ids=source, attention_mask=token_mask.long(), decoder_input_ids=target).logits
        assert_close(ours(source, token_mask, target), expected, atol=1e-4, rtol=0)


def test_gradients_are_equal(both):
    ours, theirs = both
    source, target, labels = random_tokens(2, 5), random_tokens(2, 6, seed=1), random_tokens(2, 6, seed=2)
    token_mask = torch.ones(2, 5, dtype=torch.bool)
    theirs(
        input_ids=source, attention_mask=token_mask.long(), decoder_input_ids=target, labels=labels
    ).loss.backward()
    loss = torch.nn.functional.cross_entropy(ours(source, token_mask, target).view(-1, VOCABULARY), labels.flatten())
    loss.backward()
    order = feature_order(ours.settings)
    assert_close(ours.head.weight.grad[:, order], theirs.model.shared.weight.grad, atol=1e-4, rtol=1e-3)
    packed = ours.encoder.blocks[0].attention.query_key_value.weight.grad.chunk(3)
    assert_close(
        packed[1][:, order], theirs.model.encoder.layers[0].self_attn.k_proj.weight.grad, atol=1e-4, rtol=1e-3
    )
    ours.zero_grad()


def test_greedy_translations_are_equal(both):
    from regard.decoding.settings import TranslationDecoding
    from regard.decoding.steppers.interface import SpecialTokens
    from small import decode

    ours, theirs = both
    source = random_tokens(4, 6)
    token_mask = torch.ones(4, 6, dtype=torch.bool)
    settings = TranslationDecoding(beam_size=1, max_length_ratio=1, max_length_extra=5)
    found = decode(ours, source, token_mask, SpecialTokens(2, 3, (0,)), settings)
    generated = theirs.generate(
        input_ids=source,
        attention_mask=token_mask.long(),
        max_new_tokens=11,
        num_beams=1,
        do_sample=False,
        bad_words_ids=[[0]],
        use_cache=True,
    )
    for (hypothesis,), row in zip(found, generated.tolist(), strict=True):
        expected = row[1:]
        expected = expected[: expected.index(3)] if 3 in expected else expected
        assert hypothesis.ids == expected
