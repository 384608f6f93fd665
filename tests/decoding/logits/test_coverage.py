"""The coverage penalty of beam search, against its definition."""

import pytest
import torch
from torch.testing import assert_close

from regard.decoding.logits.coverage import Coverage
from regard.decoding.settings import TranslationDecoding
from regard.errors import ConfigError
from regard.nn.probes.probe import probes
from small import ENDS, decode, ending_model, sources

LENGTHS = [9, 3, 7, 5, 1, 9]


def coverage_of(model, source, ids, is_finished):
    """Work the penalty out from the definition: one pass, all attention weights."""
    said = [ENDS.bos_id, *ids] if is_finished else [ENDS.bos_id, *ids[:-1]]
    weights = []
    listened = {probe for name, probe in probes(model).items() if name.endswith("cross.weights")}
    for probe in listened:
        probe.listener = weights.append
    token_mask = torch.ones(1, len(source), dtype=torch.bool)
    with torch.no_grad():
        model(source[None], token_mask, torch.tensor([said]))
    for probe in listened:
        probe.listener = None
    covered = torch.stack(weights).mean((0, 2))[0].sum(0)  # (L, B, H, T, S) to (S,)
    return covered.clamp(max=1).log().sum().item()


@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_coverage_penalty_is_that_of_the_paper(beam_size):
    model = ending_model()
    settings = TranslationDecoding(
        beam_size=beam_size, coverage_penalty=0.3, max_length_ratio=1.0, max_length_extra=4
    )
    source, token_mask = sources(LENGTHS)
    together = decode(model, source, token_mask, ENDS, settings)
    for row, length in enumerate(LENGTHS):
        (alone,) = decode(model, source[row : row + 1, :length], token_mask[row : row + 1, :length], ENDS, settings)
        assert [each.ids for each in alone] == [each.ids for each in together[row]]
        for found in together[row]:
            tokens = len(found.ids) + (found.finish_reason != "length")
            penalty = coverage_of(model, source[row, :length], found.ids, (found.finish_reason != "length"))
            assert abs(found.score - (found.log_probability / tokens + 0.3 * penalty)) < 1e-4
    assert not any(probe.has_listener for probe in probes(model).values())


def test_a_strong_coverage_penalty_changes_the_order():
    model = ending_model()
    source, token_mask = sources(LENGTHS)
    plain, covered = (
        decode(
            model,
            source,
            token_mask,
            ENDS,
            TranslationDecoding(beam_size=6, length_penalty="none", coverage_penalty=weight),
        )
        for weight in (0.0, 5.0)
    )
    assert [found[0].ids for found in plain] != [found[0].ids for found in covered]


def test_coverage_needs_attention_to_the_source():
    with pytest.raises(ConfigError) as error:
        Coverage([torch.nn.Linear(2, 2)], 0.5)
    assert str(error.value) == (
        "coverage_penalty: this model has no cross-attention, so its coverage is undefined; omit it."
    )


def test_the_penalty_follows_hypotheses_that_are_reordered_and_sentences_that_leave():
    model = ending_model()
    token_mask = torch.tensor([[True, True, True], [True, True, False]])
    coverage = Coverage([model], 0.5)
    coverage.token_mask = token_mask
    weights = torch.rand(2, 4, 2, 3).softmax(-1)  # (B, H, hypotheses, S)
    coverage.total = torch.zeros(4, 3)
    coverage._collect(weights)
    coverage._collect(weights)  # another layer: the mean counts
    coverage.add_step()
    share = weights.mean(1).clamp(max=1).log()  # (B, hypotheses, S)
    expected = torch.cat((share[0].sum(-1), share[1, :, :2].sum(-1)))
    assert_close(coverage.penalty(), 0.5 * expected)
    coverage.reorder(torch.tensor([3, 2]), torch.tensor([1]))
    assert_close(coverage.penalty(), 0.5 * expected[[3, 2]])
