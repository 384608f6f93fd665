import math

import pytest
import torch
from torch.testing import assert_close

from regard.errors import DataError
from regard.nn.attention.alignment import AlignedAttention, build_alignment
from regard.nn.attention.masks import as_bias, padding_mask
from regard.nn.probes.probe import listening

KINDS = ["cosine", "additive", "location", "general", "dot", "scaled-dot"]
D, A, LIMIT = 6, 5, 9


def build(kind):
    torch.manual_seed(0)
    return build_alignment(kind, D, A, LIMIT)


def plain(alignment, kind, s, h, place):
    """The score of one decoder state for one encoder state, as the lecture writes it."""
    if kind == "cosine":
        return alignment.log_sharpness.exp()[0] * (s @ h) / (s.norm() * h.norm())
    if kind == "additive":
        together = torch.cat((alignment.query.weight, alignment.key.weight), 1)
        return alignment.vector @ torch.tanh(together @ torch.cat((s, h)) + alignment.key.bias)
    if kind == "location":
        return alignment.query.weight[place] @ s + alignment.query.bias[place]
    if kind == "general":
        return s @ (alignment.key.weight / math.sqrt(D)) @ h
    return s @ h / (math.sqrt(D) if kind == "scaled-dot" else 1)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_plain_formula(kind):
    alignment = build(kind)
    s, h = torch.randn(2, 3, D), torch.randn(2, 4, D)
    with torch.no_grad():
        query = s if alignment.query is None else alignment.query(s)
        found = alignment.score(query, alignment.keys(h))
        for b in range(2):
            for t in range(3):
                for place in range(4):
                    assert_close(found[b, t, place], plain(alignment, kind, s[b, t], h[b, place], place))


@pytest.mark.parametrize("kind", KINDS)
def test_attention_is_a_mean_of_real_states(kind):
    attention = AlignedAttention(build(kind))
    s, h = torch.randn(2, 3, D), torch.randn(2, 4, D)
    bias = as_bias(padding_mask(torch.tensor([[True] * 4, [True, True, False, False]]))[:, 0], torch.float32)
    seen = []
    with torch.no_grad(), listening({attention.weights: seen.append}):
        context = attention(s, attention.alignment.keys(h), h, bias)
    (weights,) = seen
    assert weights.shape == (2, 1, 3, 4)
    assert_close(weights.sum(-1), torch.ones(2, 1, 3))
    assert not weights[1, :, :, 2:].any()
    assert_close(context, weights[:, 0] @ h)


def test_a_listener_may_replace_weights():
    attention = AlignedAttention(build("dot"))
    s, h = torch.randn(1, 2, D), torch.randn(1, 3, D)
    first = torch.tensor([1.0, 0, 0]).expand(1, 1, 2, 3)
    with listening({attention.weights: lambda weights: first}):
        assert_close(attention(s, h, h, torch.zeros(1, 1, 3)), h[:, :1].expand(1, 2, D))
        with pytest.raises(RuntimeError, match="can be recorded here, not replaced"):
            attention.tell(torch.zeros(1, 2, 3))


def test_cosine_can_focus_only_with_its_sharpness():
    """On its own a cosine tells the best of ten states from the others by e² at most."""
    alignment = build("cosine")
    h = torch.eye(10, D)
    h[D:] = -h[0]
    focus = {}
    for sharpness in (1.0, 8.0):
        with torch.no_grad():
            alignment.log_sharpness.fill_(math.log(sharpness))
            scores = alignment.score(h[None, :1], alignment.keys(h[None]))
        focus[sharpness] = scores.softmax(-1)[0, 0, 0].item()
    assert focus[1.0] < 0.4 and focus[8.0] > 0.99


def test_location_does_not_see_the_states():
    alignment = build("location")
    query = alignment.query(torch.randn(1, 2, D))
    assert_close(alignment.score(query, torch.randn(1, 4, D)), alignment.score(query, torch.randn(1, 4, D)))


def test_location_has_a_last_place():
    with pytest.raises(DataError) as error:
        build("location").keys(torch.randn(1, 10, D))
    assert str(error.value) == (
        "A source of 10 tokens goes past the 9 positions that location-based attention has learned; shorten it, or "
        "train with a larger model.max_positions or another model.alignment."
    )


def test_golden_scaled_scores():
    """Scores 112 and 96 at width 64 become 14 and 12, and weights 0.88 and 0.12."""
    alignment = build_alignment("scaled-dot", 64, 1, 1)
    s = torch.ones(1, 1, 64)
    h = torch.stack((torch.full((64,), 112 / 64), torch.full((64,), 96 / 64)))[None]
    scores = alignment.score(s, alignment.keys(h))
    assert_close(scores, torch.tensor([[[14.0, 12.0]]]))
    assert_close(scores.softmax(-1), torch.tensor([[[0.88, 0.12]]]), atol=0.005, rtol=0)
