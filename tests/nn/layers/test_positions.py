import pytest
import torch
from torch.testing import assert_close

from regard.errors import DataError
from regard.nn.layers.positions import RelativeBias, Rotary, alibi_slopes, build_positions, rotate, sinusoids
from small import random_tokens, small_settings, small_transformer

SCHEMES = ["sinusoidal", "learned", "rotary", "alibi", "relative", "index", "none"]


def encode(model, source):
    return model.encode(source, torch.ones_like(source, dtype=torch.bool)).states


def test_sinusoids_follow_the_formula():
    table = sinusoids(torch.arange(50), 128)
    position, j = 7, 5
    angle = torch.tensor(position / 10000 ** (2 * j / 128))
    assert_close(table[position, 2 * j], angle.sin())
    assert_close(table[position, 2 * j + 1], angle.cos())


def test_golden_a_shifted_sinusoid_is_a_linear_function_of_the_first():
    """PE(pos + k) = M_k PE(pos) with one matrix M_k for every pos: a rotation of each pair of features."""
    table = sinusoids(torch.arange(40), 16).double()
    shift = 5
    rates = 10000.0 ** (-torch.arange(0, 16, 2).double() / 16)
    matrix = torch.zeros(16, 16, dtype=torch.double)
    for pair, rate in enumerate(rates):
        cosine, sine = torch.cos(shift * rate), torch.sin(shift * rate)
        matrix[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = torch.tensor([[cosine, sine], [-sine, cosine]])
    assert_close(table[:-shift] @ matrix.T, table[shift:], atol=1e-5, rtol=0)


def test_without_positions_permuting_the_words_permutes_the_outputs():
    model = small_transformer(positions="none")
    source = random_tokens(1, 7)
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    with torch.no_grad():
        assert_close(encode(model, source)[:, order], encode(model, source[:, order]), atol=1e-5, rtol=0)


@pytest.mark.parametrize("positions", [scheme for scheme in SCHEMES if scheme != "none"])
def test_every_scheme_notices_order(positions):
    model = small_transformer(positions=positions)
    source = random_tokens(1, 7)
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    with torch.no_grad():
        permuted, apart = encode(model, source)[:, order], encode(model, source[:, order])
    assert (permuted - apart).abs().max() > 1e-2


@pytest.mark.parametrize("kind", SCHEMES)
def test_rows_that_begin_at_different_places_are_as_each_on_its_own(kind):
    torch.manual_seed(0)
    scheme = build_positions(kind, 16, 4, 4, 20, True)
    positions, keys = torch.tensor([[3, 4, 5], [0, 1, 2]]), torch.tensor([[0, 3, 4, 5], [9, 0, 1, 2]])
    x, heads = torch.randn(2, 3, 16), torch.randn(2, 4, 3, 4)
    embedded, rotation, bias = scheme.embed(x, positions), scheme.rotation(positions), scheme.bias(positions, keys)
    for row in range(2):
        assert_close(embedded[row], scheme.embed(x[row : row + 1], positions[row])[0])
        if rotation is not None:
            alone = rotate(heads[row : row + 1], scheme.rotation(positions[row]))
            assert_close(rotate(heads, rotation)[row], alone[0])
        if bias is not None:
            assert_close(bias[row], scheme.bias(positions[row], keys[row]))


def test_rotated_scores_depend_on_distance_alone():
    torch.manual_seed(0)
    rotary = Rotary(8)
    query, key = torch.randn(2, 1, 1, 1, 8)

    def score(at, other):
        turned = (
            rotate(query, rotary.rotation(torch.tensor([at]))),
            rotate(key, rotary.rotation(torch.tensor([other]))),
        )
        return (turned[0] * turned[1]).sum()

    assert_close(score(9, 4), score(25, 20))
    assert (score(9, 4) - score(9, 7)).abs() > 1e-3
    assert_close(rotate(query, rotary.rotation(torch.tensor([11]))).norm(), query.norm())


def test_alibi_slopes_are_those_of_the_paper():
    assert alibi_slopes(8) == [2.0**-i for i in range(1, 9)]
    assert len(alibi_slopes(6)) == 6 and alibi_slopes(6)[:4] == [2.0 ** (-2 * i) for i in range(1, 5)]


def test_relative_buckets_are_exact_near_by_and_shared_far_away():
    causal = RelativeBias(heads=2, is_causal=True, buckets=32, farthest=128)
    assert causal.bucket(torch.tensor([0, -1, -15])).tolist() == [0, 1, 15]
    assert causal.bucket(torch.tensor([-500])).tolist() == [31]
    assert causal.bucket(torch.tensor([-40])) == causal.bucket(torch.tensor([-41]))
    both = RelativeBias(heads=2, is_causal=False, buckets=32, farthest=128)
    assert both.bucket(torch.tensor([3])) != both.bucket(torch.tensor([-3]))
    assert both.bucket(torch.arange(-300, 300)).max() == 31


def test_going_past_a_learned_table_is_a_clear_error():
    model = small_transformer(positions="learned", max_positions=6)
    with pytest.raises(DataError) as error:
        encode(model, random_tokens(1, 7))
    assert str(error.value) == (
        "A sequence of 7 tokens goes past the 6 positions this model has learned; shorten it, or train with a "
        "larger model.max_positions or another model.positions."
    )


def test_odd_widths_are_refused_where_features_come_in_pairs():
    with pytest.raises(ValueError, match="width: 15 is not even, but sinusoidal positions come in pairs of features"):
        small_settings(width=15, heads=5)
    with pytest.raises(ValueError, match="head_width: 5 is not even, but rotary positions rotate pairs of features"):
        small_settings(width=15, heads=3, positions="rotary")
