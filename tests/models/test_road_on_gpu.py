"""What a GPU asks of recurrent and convolutional models, found out without one."""

import numpy as np
import pytest
import torch
from test_road import ATTENTIVE, CONVOLUTIONAL, PLAIN, everything, settings_of, small
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing import assert_close

from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.objectives.translation import TranslationObjective
from small import VOCABULARY, random_pairs

MIXED = [PLAIN[3], PLAIN[4], PLAIN[6], *ATTENTIVE[:12:2], *ATTENTIVE[12:], CONVOLUTIONAL[1]]


@pytest.mark.parametrize("variant", [*MIXED, *({**each, "teacher_forcing": 0.5} for each in MIXED[:5])], ids=str)
def test_mixed_precision_fits_and_nothing_depends_on_values(variant):
    """Without values there is nothing to wait for on a GPU, and no shape that they could change in a recording."""
    with FakeTensorMode():
        model = build_model(settings_of(**variant), Vocabularies(VOCABULARY, VOCABULARY, True)).train()
        source, token_mask = torch.zeros(2, 6, dtype=torch.long), everything(2, 6)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(source, token_mask, torch.zeros(2, 5, dtype=torch.long))
        logits.float().sum().backward()
        model.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            memory, state = model.encode(source, token_mask), model.start()
            model.decode(torch.zeros(2, 1, dtype=torch.long), memory, state)
            state = state.select(torch.zeros(6, dtype=torch.long))
            assert model.decode(torch.zeros(6, 1, dtype=torch.long), memory, state).shape[:2] == (6, 1)
    assert logits.dtype == torch.bfloat16 and all(each.grad is not None for each in model.parameters())


@pytest.mark.parametrize("variant", [{"alignment": "location"}, {"kernel": 3}], ids=str)
def test_rounded_shapes_do_not_grow_past_the_last_place(variant):
    """What is recorded on a GPU has lengths that are rounded up; the longest pairs must still fit."""
    model = small(**variant, max_positions=11)
    pairs = random_pairs(60)
    batch = pairs.batch(np.flatnonzero(pairs.source.lengths <= 11)[:40])
    objective = TranslationObjective(0.1)
    assert batch.source.size(1) == batch.target.size(1) == 11
    assert batch.padded_to_bucket().source.size(1) == 12
    rounded = batch.padded_to_bucket(model.max_positions)
    assert rounded.source.shape == rounded.target.shape == (40, 11)
    with torch.no_grad():
        losses = [objective(model, each)["ce"].sum for each in (batch, rounded)]
    assert_close(*losses, rtol=1e-5, atol=0)
