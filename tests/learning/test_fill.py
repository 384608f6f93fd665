"""Every text encoder learns to fill in what is masked, in seconds on a CPU."""

import pytest
import torch
from torch.nn import functional as F

from regard.models.base.settings import Vocabularies
from regard.models.families import build_model, family, presets_of
from regard.models.presets import preset, presets
from regard.registry import FAMILIES

LETTERS, MASK, HALF = 12, 12, 6
SIZES = {"bert-tiny": {"width": 32, "heads": 2, "feed_forward_width": 64, "max_positions": 2 * HALF}}
"""What each preset is made small by."""


def small_model(name, **changes):
    torch.manual_seed(0)
    still = {"dropout": 0.0, "embedding_dropout": 0.0, "attention_dropout": 0.0}
    settings = preset(name).settings | SIZES[name] | still | changes
    return build_model(family(settings["family"]).settings(**settings), Vocabularies(LETTERS + 1, LETTERS + 1, True))


def mirrored(rows, seed):
    """Return random letters and then the same backwards, some letters masked in one half, and where they were."""
    draw = torch.Generator().manual_seed(seed)
    half = torch.randint(LETTERS, (rows, HALF), generator=draw)
    whole = torch.cat((half, half.flip(1)), 1)
    side = torch.randint(2, (rows, 1), generator=draw)
    is_there = (torch.arange(2 * HALF) >= HALF).long() == side
    hidden = is_there & (torch.rand(rows, 2 * HALF, generator=draw) < 0.5)
    return whole, whole.masked_fill(hidden, MASK), hidden


def test_every_text_encoder_is_here():
    readers = {name for name in FAMILIES.names() if family(name).kind == "encoder"}
    assert {presets()[name].settings["family"] for name in SIZES} == readers and presets_of("encoder")


@pytest.mark.parametrize("changes", [{}, {"norm_order": "pre"}], ids=str)
def test_it_learns_to_fill_in_what_the_other_half_tells(changes):
    model = small_model("bert-tiny", **changes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(500):
        whole, masked, hidden = mirrored(64, step)
        loss = F.cross_entropy(model.project(model.hidden_states(masked)[hidden]), whole[hidden])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    whole, masked, hidden = mirrored(200, -1)
    with torch.no_grad():
        predicted = model.eval()(masked).argmax(-1)
    assert (predicted == whole)[hidden].float().mean() > 0.98
