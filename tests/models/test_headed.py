import math

import pytest
import torch
from torch.testing import assert_close

from labelled import SMALL_GPT, small_headed
from regard.checkpoint.bundle import weights_of
from regard.models import Vocabularies, build_model, count_parameters, take_over
from regard.models.gpt import GptSettings
from regard.models.headed import SPREAD, HeadSettings
from regard.models.recurrent_lm import RecurrentLmSettings
from small import VOCABULARY, random_tokens

FAMILIES = [
    ("gpt", {}),
    ("gpt", {"positions": "rotary"}),
    ("recurrent-lm", {}),
    ("recurrent-lm", {"embedding_width": 8}),
]


@pytest.mark.parametrize(("family", "changes"), FAMILIES)
@pytest.mark.parametrize("kind", ["labels", "choices"])
def test_padding_behind_changes_nothing(family, changes, kind):
    model = small_headed(kind, family=family, **changes)
    tokens, padded = random_tokens(4, 5), torch.cat((random_tokens(4, 5), random_tokens(4, 3, seed=1)), 1)
    extracts, offered = torch.tensor([4, 4, 4, 4]), torch.ones(2, 2, dtype=torch.bool)
    with torch.no_grad():
        assert_close(model(padded, extracts, offered), model(tokens, extracts, offered), atol=1e-12, rtol=0)


@pytest.mark.parametrize(("family", "changes"), FAMILIES)
def test_only_the_token_that_is_looked_at_and_those_before_it_count(family, changes):
    model = small_headed(family=family, **changes)
    tokens = random_tokens(1, 6)
    offered = torch.ones(1, 1, dtype=torch.bool)
    with torch.no_grad():
        early, late = (model(tokens, torch.tensor([step]), offered) for step in (2, 5))
        tokens[0, 4] = 7
        assert_close(model(tokens, torch.tensor([2]), offered), early, atol=1e-12, rtol=0)
        assert (model(tokens, torch.tensor([5]), offered) - late).abs().max() > 1e-3


def test_hidden_states_of_both_orders_are_added_before_they_are_labelled():
    model = small_headed()
    tokens, extracts = random_tokens(2, 6), torch.tensor([5, 5])
    with torch.no_grad():
        both = model(tokens, extracts, torch.ones(1, 2, dtype=torch.bool))
        swapped = model(tokens.flip(0), extracts, torch.ones(1, 2, dtype=torch.bool))
        hidden = model.read(tokens)[:, -1].sum(0)
    assert_close(both, swapped, atol=1e-12, rtol=0)
    assert_close(both[0], model.output(hidden), atol=1e-12, rtol=0)


def test_a_sequence_that_is_not_offered_counts_for_nothing():
    offered = torch.tensor([[True, False]])
    tokens, extracts = random_tokens(2, 6), torch.tensor([5, 5])
    with torch.no_grad():
        labels = small_headed()
        alone = labels(tokens[:1], extracts[:1], torch.ones(1, 1, dtype=torch.bool))
        assert_close(labels(tokens, extracts, offered), alone, atol=1e-12, rtol=0)
        scores = small_headed("choices")(tokens, extracts, offered)
    assert scores[0, 1] == -math.inf and scores.softmax(1).tolist() == [[1.0, 0.0]]


def test_a_head_has_a_bias_for_labels_only_and_is_counted():
    labels, choices = small_headed(), small_headed("choices")
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
    take_over(grown, weights_of(small), new)
    tokens = random_tokens(3, 7)
    with torch.no_grad():
        assert torch.equal(grown.read(tokens), small.read(tokens))
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
    take_over(model, weights_of(spare), [37, 38, 39])
    weight = model.embedding.table.weight
    assert (weight[:37] == 1).all() and weight[37:].abs().max() < 6 * SPREAD
