"""Every language model learns to go on with a text that repeats, in seconds on a CPU."""

import pytest
import torch
from torch.nn import functional as F

from regard.models.base.settings import Vocabularies
from regard.models.families import build_model, family, presets_of
from regard.models.presets import preset, presets
from regard.registry import FAMILIES

TEXT = "to regard, to record, "
"""After many of its letters, only those before them tell what comes next."""

LETTERS = sorted(set(TEXT))

GPT = {"width": 32, "heads": 2, "feed_forward_width": 64, "layers": 2, "max_positions": 48}
RECURRENT = {"width": 32, "embedding_width": 16}
SIZES = {"gpt-tiny": GPT, "rnn-lm": RECURRENT, "lstm-lm": RECURRENT, "gru-lm": RECURRENT}
"""What each preset is made small by."""

MODERN = {
    "positions": "rotary",
    "norm": "rms",
    "activation": "swiglu",
    "has_bias": False,
    "key_value_heads": 1,
    "embeddings": "separate",
}


def small_model(name, **changes):
    torch.manual_seed(0)
    still = {"dropout": 0.0, "embedding_dropout": 0.0}
    settings = preset(name).settings | SIZES[name] | still | changes
    return build_model(
        family(settings["family"]).settings(**settings), Vocabularies(len(LETTERS), len(LETTERS), True)
    )


def windows(starts, length):
    """Return the text from some places on, as often as it takes."""
    ids = torch.tensor([LETTERS.index(letter) for letter in TEXT])
    return ids[(torch.tensor(starts)[:, None] + torch.arange(length)) % len(TEXT)]


def trained(model, steps=300):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    rows = windows(range(len(TEXT)), 49)
    for _ in range(steps):
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def continued(model, prompts, token_mask, steps):
    """Return what a model goes on with, the likeliest letter after the other."""
    generated = []
    with torch.no_grad():
        state = model.start()
        hidden = model.hidden_states(prompts, state, token_mask)
        for _ in range(steps):
            generated.append(model.project(hidden[:, -1:]).argmax(-1))
            hidden = model.hidden_states(generated[-1], state)
    return torch.cat(generated, 1)


def test_every_language_model_is_here():
    readers = {name for name in FAMILIES.names() if family(name).kind == "causal-lm"}
    assert {presets()[name].settings["family"] for name in SIZES} == readers
    assert {name for name in presets_of("causal-lm") if "gpt" not in name} <= set(SIZES)


@pytest.mark.parametrize(
    "name, changes",
    [
        *((name, {}) for name in SIZES),
        ("gpt-tiny", MODERN),
        ("gpt-tiny", {"norm_order": "post"}),
        ("gpt-tiny", {"positions": "alibi"}),
        ("gpt-tiny", {"positions": "sinusoidal", "scales_embeddings": True}),
    ],
    ids=str,
)
def test_it_learns_to_continue_a_text_that_repeats(name, changes):
    model = trained(small_model(name, **changes))
    whole = windows([0, 5, 11], 20 + 28)
    lengths = torch.tensor([20, 12, 16])  # prompts end at one place, padding stands before the shorter ones
    token_mask = torch.arange(20) >= 20 - lengths[:, None]
    prompts = torch.where(token_mask, whole[:, :20], 0)
    assert continued(model, prompts, token_mask, 28).tolist() == whole[:, 20:].tolist()
