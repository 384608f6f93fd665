import pytest
import torch
from torch.nn import functional as F

from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.char_words import CharWordBatch
from regard.models.base.settings import Vocabularies
from regard.models.elmo.model import Elmo, ElmoSettings
from regard.objectives.bidirectional_lm import BidirectionalObjective
from regard.objectives.loss import scaled_total
from regard.text.char_tokenizer import spelling_tokenizer

TOKENIZER = spelling_tokenizer()
SETTINGS = ElmoSettings(width=8, cell_width=12, filters=((1, 4), (3, 6)), highways=1, longest_word=12)


def model_and_batch():
    torch.manual_seed(0)
    model = Elmo(SETTINGS, Vocabularies(TOKENIZER.size, 30, is_shared=False)).eval()
    rows = [TOKENIZER.encode(text).ids for text in ("the old man", "a bird")]
    words = torch.tensor([[7, 8, 9], [11, 12, NO_LABEL]])
    bounds = torch.tensor([0, *map(len, rows)]).cumsum(0).int()
    return model, CharWordBatch(torch.tensor([*rows[0], *rows[1]]), bounds, words, label_count=3)


def test_each_direction_predicts_the_neighbor_on_its_side():
    model, batch = model_and_batch()
    loss = BidirectionalObjective()(model, batch)
    states = model.layers(batch.tokens, batch.cu_seqlens).states[-1]
    ahead, back = (model.head(half) for half in states.chunk(2, -1))
    expected = {
        "forward": F.cross_entropy(
            torch.cat((ahead[0, :2], ahead[1, :1])), torch.tensor([8, 9, 12]), reduction="sum"
        ),
        "backward": F.cross_entropy(
            torch.cat((back[0, 1:], back[1, 1:2])), torch.tensor([7, 8, 11]), reduction="sum"
        ),
    }
    assert {name: part.sum.item() for name, part in loss.items()} == pytest.approx(
        {name: value.item() for name, value in expected.items()}, rel=1e-5
    )


def test_the_loss_is_the_mean_of_both_directions():
    model, batch = model_and_batch()
    objective = BidirectionalObjective()
    loss, counts = objective(model, batch), objective.counts(batch)
    assert counts == {"forward": 3, "backward": 3}
    both = sum(part.sum.item() for part in loss.values())
    assert scaled_total(loss, counts).item() == pytest.approx(both / 6, rel=1e-6)
