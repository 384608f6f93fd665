import math

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from labeled import SMALL_GPT, small_headed
from regard.checkpoint.bundle import weights_of
from regard.data.encoding.inputs import PaddedInputs, VarlenInputs, as_varlen
from regard.data.encoding.sequences import Sequences
from regard.models.base.settings import HeadSettings, Vocabularies
from regard.models.families import build_model, count_parameters
from regard.models.gpt.model import GptSettings
from regard.models.heads import SPREAD, load_matching_weights
from regard.models.recurrent.language_model import RecurrentLmSettings
from small import VOCABULARY, random_tokens

FAMILIES = [
    ("gpt", {}),
    ("gpt", {"positions": "rotary"}),
    ("recurrent-lm", {}),
    ("recurrent-lm", {"embedding_width": 8}),
]


def scores(model, tokens, steps, candidate_mask):
    """Return what a model says of rows of tokens, each looked at at one step."""
    rows, length = tokens.shape
    places = torch.arange(rows) * length + torch.tensor(steps)
    return model(
        PaddedInputs(tokens, torch.ones_like(tokens, dtype=torch.bool)),
        places.view(candidate_mask.shape),
        candidate_mask,
    )


@pytest.mark.parametrize(("family", "changes"), FAMILIES)
@pytest.mark.parametrize("kind", ["classification", "multiple-choice"])
def test_padding_behind_changes_nothing(family, changes, kind):
    model = small_headed(kind, family=family, **changes)
    tokens, padded = random_tokens(4, 5), torch.cat((random_tokens(4, 5), random_tokens(4, 3, seed=1)), 1)
    steps, candidate_mask = [4, 4, 4, 4], torch.ones(2, 2, dtype=torch.bool)
    with torch.no_grad():
        assert_close(
            scores(model, padded, steps, candidate_mask),
            scores(model, tokens, steps, candidate_mask),
            atol=1e-12,
            rtol=0,
        )


@pytest.mark.parametrize(("family", "changes"), FAMILIES)
def test_only_the_token_that_is_looked_at_and_those_before_it_count(family, changes):
    model = small_headed(family=family, **changes)
    tokens = random_tokens(1, 6)
    candidate_mask = torch.ones(1, 1, dtype=torch.bool)
    with torch.no_grad():
        early, late = (scores(model, tokens, [step], candidate_mask) for step in (2, 5))
        tokens[0, 4] = 7
        assert_close(scores(model, tokens, [2], candidate_mask), early, atol=1e-12, rtol=0)
        assert (scores(model, tokens, [5], candidate_mask) - late).abs().max() > 1e-3


def test_hidden_states_of_both_orders_are_added_before_they_are_labeled():
    model = small_headed()
    tokens, steps, candidate_mask = random_tokens(2, 6), [5, 5], torch.ones(1, 2, dtype=torch.bool)
    with torch.no_grad():
        both = scores(model, tokens, steps, candidate_mask)
        swapped = scores(model, tokens.flip(0), steps, candidate_mask)
        hidden = model.body.hidden_states(tokens)[:, -1].sum(0)
    assert_close(both, swapped, atol=1e-12, rtol=0)
    assert_close(both[0], model.output(hidden), atol=1e-12, rtol=0)


def test_a_sequence_that_is_not_offered_counts_for_nothing():
    candidate_mask = torch.tensor([[True, False]])
    tokens = random_tokens(2, 6)
    with torch.no_grad():
        labels = small_headed()
        alone = scores(labels, tokens[:1], [5], torch.ones(1, 1, dtype=torch.bool))
        assert_close(scores(labels, tokens, [5, 5], candidate_mask), alone, atol=1e-12, rtol=0)
        chosen = scores(small_headed("multiple-choice"), tokens, [5, 5], candidate_mask)
    assert chosen[0, 1] == -math.inf and chosen.softmax(1).tolist() == [[1.0, 0.0]]


def packed(*rows: list[int]) -> VarlenInputs:
    """Return rows of tokens end to end, the second segment of each from its third token on."""
    sequences = Sequences.of(rows)
    return as_varlen(sequences, np.arange(len(rows)), np.full(len(rows), 2))


ROWS = [[5, 6, 7, 8, 9], [6, 7, 8], [4, 4, 9, 7]]


def alone(model, row):
    """Return the hidden states of one sequence, read by the body itself."""
    tokens = torch.tensor([row])
    segments = (torch.arange(len(row)) >= 2).long()[None]
    return model.body.hidden_states(tokens, segments)[0]


@pytest.mark.parametrize("kind", ["classification", "regression", "multiple-choice"])
def test_an_encoder_pools_its_first_token(kind):
    model = small_headed(kind, family="bert")
    places, candidate_mask = torch.tensor([[0], [5], [8]]), torch.ones(3, 1, dtype=torch.bool)
    with torch.no_grad():
        found = model(packed(*ROWS), places, candidate_mask)
        pooled = torch.stack([model.body.pool(alone(model, row)[0]) for row in ROWS])
        expected = model.output(pooled)
    assert_close(found, expected.squeeze(1) if kind == "regression" else expected, atol=1e-12, rtol=0)


def test_the_mean_of_all_tokens_may_stand_for_a_text():
    with torch.no_grad():
        labels = small_headed("classification", family="bert", pooling="mean")
        found = labels(packed(*ROWS), torch.tensor([[0], [1], [2]]), torch.ones(3, 1, dtype=torch.bool))
        means = torch.stack([alone(labels, row).mean(0) for row in ROWS])
        assert_close(found, labels.output(means), atol=1e-12, rtol=0)
        likeness = small_headed("similarity", family="bert", pooling="mean")
        found = likeness(packed(*ROWS), torch.tensor([[0, 1], [2, 2]]), torch.ones(2, 2, dtype=torch.bool))
        one, other = (alone(likeness, row).mean(0) for row in ROWS[:2])
    assert_close(found[0], one @ other / (one.norm() * other.norm()), atol=1e-12, rtol=0)
    assert_close(found[1], torch.ones(()).double(), atol=1e-12, rtol=0)
    assert not any(name.startswith("output") for name, _ in likeness.named_parameters())


def test_tags_and_spans_are_told_from_the_tokens_themselves():
    with torch.no_grad():
        tags = small_headed("token-classification", family="bert")
        found = tags(packed(*ROWS), torch.tensor([[1], [6], [11]]), torch.ones(3, 1, dtype=torch.bool))
        expected = torch.stack([alone(tags, row)[step] for row, step in zip(ROWS, (1, 1, 3))])
        assert_close(found, tags.output(expected), atol=1e-12, rtol=0)
        spans = small_headed("extractive-qa", family="bert")
        candidate_mask = torch.tensor([[True, True, True], [True, True, False]])
        found = spans(packed(*ROWS[:2]), torch.tensor([[0, 3, 4], [5, 7, 0]]), candidate_mask)
        assert found.shape == (2, 3, 2) and found[1, 2].tolist() == [-math.inf, -math.inf]
        assert_close(found[0], spans.output(alone(spans, ROWS[0])[[0, 3, 4]]), atol=1e-12, rtol=0)
        assert_close(found[1, :2], spans.output(alone(spans, ROWS[1])[[0, 2]]), atol=1e-12, rtol=0)
    assert not tags.pools and not spans.pools


def test_a_head_has_a_bias_for_labels_only_and_is_counted():
    labels, choices = small_headed(), small_headed("multiple-choice")
    assert labels.output.bias is not None and choices.output.bias is None
    assert labels.max_positions == 64 and labels.head is labels.body.head
    settings, vocabularies = labels.body.settings, Vocabularies(VOCABULARY, VOCABULARY, True)
    counted = count_parameters(settings, vocabularies, HeadSettings(outputs=3))
    assert (
        counted == sum(each.numel() for each in labels.parameters()) == count_parameters(settings, vocabularies) + 51
    )


@pytest.mark.parametrize(
    "settings",
    [
        GptSettings(**SMALL_GPT),
        GptSettings(**SMALL_GPT, embeddings="separate", has_output_bias=True),
        RecurrentLmSettings(width=16),
        RecurrentLmSettings(width=16, embeddings="separate"),
    ],
)
def test_a_vocabulary_grows_and_nothing_that_was_known_changes(settings):
    torch.manual_seed(0)
    small = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True)).double().eval()
    grown = build_model(settings, Vocabularies(VOCABULARY + 3, VOCABULARY + 3, True)).double().eval()
    new = [VOCABULARY, VOCABULARY + 1, VOCABULARY + 2]
    load_matching_weights(grown, weights_of(small), new)
    tokens = random_tokens(3, 7)
    with torch.no_grad():
        assert torch.equal(grown.hidden_states(tokens), small.hidden_states(tokens))
        assert_close(grown(tokens)[..., :VOCABULARY], small(tokens), atol=1e-13, rtol=0)
    for table in (grown.embedding.table.weight, grown.head.weight):
        assert torch.equal(
            table[:VOCABULARY],
            (small.embedding.table if table is grown.embedding.table.weight else small.head).weight,
        )
        assert 0 < table[new].abs().max() < 6 * SPREAD
    if grown.head.bias is not None:
        assert grown.head.bias[new].tolist() == [0.0, 0.0, 0.0]


def test_rows_that_a_table_has_to_spare_are_used_for_new_tokens():
    settings = GptSettings(**SMALL_GPT)
    spare = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True))
    torch.nn.init.ones_(spare.embedding.table.weight)
    model = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True))
    load_matching_weights(model, weights_of(spare), [37, 38, 39])
    weight = model.embedding.table.weight
    assert (weight[:37] == 1).all() and weight[37:].abs().max() < 6 * SPREAD
