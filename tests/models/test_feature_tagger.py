import pytest
import torch
from torch.testing import assert_close

from regard.data.encoding.frozen_features import VectorRows
from regard.models.base.settings import FeatureTaggerSettings
from regard.models.feature_tagger import new_feature_tagger

LENGTHS = [4, 2, 1]
VECTORS = torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(0))
MASK = torch.arange(4) < torch.tensor(LENGTHS)[:, None]
WORDS = MASK.flatten().nonzero()  # (W, 1) positions of all words


def tagger(kind, seed=1):
    return new_feature_tagger(FeatureTaggerSettings(kind=kind, width=8), 6, 3, seed).eval()


def logits(model, vectors, mask=MASK, words=WORDS):
    with torch.no_grad():
        return model(VectorRows(vectors, mask), words, torch.ones_like(words, dtype=torch.bool))


@pytest.mark.parametrize("kind", ["bilstm", "linear"])
def test_padding_and_other_rows_change_nothing(kind):
    model = tagger(kind)
    together = logits(model, torch.where(MASK[:, :, None], VECTORS, 9.0)).split(LENGTHS)
    for row, length in enumerate(LENGTHS):
        mask = torch.ones(1, length, dtype=torch.bool)
        alone = logits(model, VECTORS[row : row + 1, :length], mask, torch.arange(length)[:, None])
        assert_close(together[row], alone, atol=1e-6, rtol=1e-5)


def test_only_the_lstm_has_context_and_it_is_bidirectional():
    for kind in ("bilstm", "linear"):
        model, changed = tagger(kind), VECTORS.clone()
        changed[0, 3] += 1
        changed[1, 0] += 1
        difference = (logits(model, changed) - logits(model, VECTORS)).abs().amax(1) > 1e-6
        expected = [True] * 6 + [False] if kind == "bilstm" else [False] * 3 + [True, True, False, False]
        assert difference.tolist() == expected


def test_a_seed_gives_the_same_tagger():
    first, again, other = (tagger("bilstm", seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["output.weight"], other["output.weight"])
