"""Mask-predict: lengths, iterations, the choice among candidates."""

from itertools import chain, pairwise

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from regard.decoding import generate as decoding
from regard.decoding.search.mask_predict import (
    MaskPredictState,
    candidate_rows,
    fill_in,
    likely_lengths,
    mask_predict,
)
from regard.decoding.settings import MaskPredictDecoding
from regard.errors import CheckpointError, DataError
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.transformer.mask_predict import MaskPredictSettings
from small import ENDS, VOCABULARY, decode, small_mask_predict, sources

LENGTHS = [9, 3, 7, 5, 1, 9, 2, 8, 6]


def ids(found):
    return [[each.ids for each in hypotheses] for hypotheses in found]


def assert_same(found, expected):
    assert ids(found) == ids(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert [each.score for each in ours] == pytest.approx([each.score for each in theirs], abs=1e-4)


def by_hand(model, source, settings):
    """Return the hypotheses of one source (S,), word by word and without any batch."""
    memory = model.encode(source[None], torch.ones(1, len(source), dtype=torch.bool))
    scores = model.length_scores(memory)[0]
    lengths = [len(source) + each - model.max_length_offset for each in range(len(scores))]
    possible = [place for place, length in enumerate(lengths) if length >= 2]
    chances = dict(zip(possible, scores[possible].log_softmax(0).tolist(), strict=True))
    found = []
    for longer in sorted(chances, key=lambda each: -chances[each])[: settings.length_candidates]:
        words = lengths[longer] - 1
        said, sure = [ENDS.bos_id] * words, [float("-inf")] * words
        for number in range(settings.iterations):
            count = max(1, words * (settings.iterations - number) // settings.iterations)
            worst = sorted(range(words), key=lambda place: sure[place])[:count]
            for place in worst:
                said[place] = ENDS.bos_id
            target = torch.tensor([[*said, ENDS.eos_id]])
            logits = model.project(model.decode(target, memory, torch.ones_like(target, dtype=torch.bool)))[0]
            log_p = logits.log_softmax(-1)
            log_p[:, [*ENDS.never, ENDS.eos_id]] = -torch.inf
            for place in worst:
                sure[place], said[place] = log_p[place].max().item(), int(log_p[place].argmax())
        found.append(((sum(sure) + chances[longer]) / (words + 1), said))
    return sorted(found, key=lambda each: -each[0])


@pytest.mark.parametrize("settings", [{}, {"iterations": 1}, {"iterations": 7, "length_candidates": 1}], ids=str)
@torch.no_grad()
def test_it_does_what_the_paper_says(settings):
    model, asked = small_mask_predict(), MaskPredictDecoding(**settings)
    source, token_mask = sources(LENGTHS)
    found = decode(model, source, token_mask, ENDS, asked)
    for row, length in enumerate(LENGTHS):
        expected = by_hand(model, source[row, :length], asked)
        assert [each.ids for each in found[row]] == [said for _, said in expected]
        assert [each.score for each in found[row]] == pytest.approx([score for score, _ in expected], abs=1e-5)


def test_a_batch_says_what_each_source_alone_does():
    model, settings = small_mask_predict(), MaskPredictDecoding()
    source, token_mask = sources(LENGTHS)
    together = decode(model, source, token_mask, ENDS, settings)
    for row, length in enumerate(LENGTHS):
        alone = decode(model, source[row : row + 1, :length], token_mask[row : row + 1, :length], ENDS, settings)
        assert_same(alone, together[row : row + 1])


def test_each_pass_fills_in_the_least_sure_words():
    model, iterations = small_mask_predict(), []
    source, token_mask = sources([9, 5])
    settings = MaskPredictDecoding(iterations=3, length_candidates=1)
    lengths = torch.tensor([[10], [5]])
    found = mask_predict(model, source, token_mask, ENDS, settings, iterations.append, lengths)
    assert [each.masked.sum(1).tolist() for each in iterations] == [[9, 4], [6, 2], [3, 1]]
    for before, after in pairwise(iterations):
        kept = ~after.masked
        assert torch.equal(before.tokens[kept], after.tokens[kept]) and torch.equal(
            before.sure[kept], after.sure[kept]
        )
        for row in range(2):
            redone = before.sure[row][after.masked[row]]
            stayed = before.sure[row][kept[row]]
            assert redone.max() <= stayed.min()
    assert [each[0].ids for each in found] == [
        iterations[-1].tokens[0, :9].tolist(),
        iterations[-1].tokens[1, :4].tolist(),
    ]
    said = [token for each in found for token in each[0].ids]
    assert not {*ENDS.never, ENDS.eos_id} & set(said)


def test_more_passes_change_the_output():
    model, (source, token_mask) = small_mask_predict(), sources(LENGTHS)
    one, four = (decode(model, source, token_mask, ENDS, MaskPredictDecoding(iterations=each)) for each in (1, 4))
    assert ids(one) != ids(four)


def test_the_surest_output_wins_in_the_mean():
    model, (source, token_mask) = small_mask_predict(), sources(LENGTHS)
    for hypotheses in decode(model, source, token_mask, ENDS, MaskPredictDecoding(length_candidates=5)):
        scores = [each.score for each in hypotheses]
        assert scores == sorted(scores, reverse=True) and len({len(each.ids) for each in hypotheses}) > 1
        for each in hypotheses:
            assert each.score == pytest.approx(each.log_probability / (len(each.ids) + 1)) and (
                each.finish_reason != "length"
            )


def test_lengths_stay_within_reach_and_bounds():
    model, (source, token_mask) = small_mask_predict(positions="learned", max_positions=9), sources(LENGTHS)
    with torch.no_grad():
        lengths, chances = likely_lengths(model, model.encode(source, token_mask), 20)
    assert lengths.shape == (9, 11) and lengths.min() == 2 and lengths.max() == 9
    assert (chances.exp().sum(1) - 1).abs().max() < 1e-5 and (
        chances.diff(dim=1)[chances[:, 1:] > -torch.inf] <= 0
    ).all()
    found = decode(model, source, token_mask, ENDS, MaskPredictDecoding())
    assert max(len(each.ids) for each in chain.from_iterable(found)) <= 8


def test_repeats_are_merged_if_that_is_asked_for():
    model, (source, token_mask) = small_mask_predict(), sources(LENGTHS)
    plain, merged = (
        decode(model, source, token_mask, ENDS, MaskPredictDecoding(length_candidates=1, collapse_repeats=merges))
        for merges in (False, True)
    )
    assert ids(plain) != ids(merged)
    for (one,), (other,) in zip(plain, merged, strict=True):
        assert other.ids == [token for token, before in zip(one.ids, [None, *one.ids]) if token != before]
        assert other.score == one.score


def test_weights_that_are_no_numbers_are_one_sentence():
    model, (source, token_mask) = small_mask_predict(), sources([4])
    with torch.no_grad():
        model.head.weight.fill_(torch.nan)
    with pytest.raises(CheckpointError) as error:
        decode(model, source, token_mask, ENDS, MaskPredictDecoding())
    assert str(error.value) == "The model gives no probabilities: its weights are not numbers; use another one."


def test_memory_that_runs_out_means_fewer_at_once(monkeypatch):
    model, (source, token_mask) = small_mask_predict(), sources(LENGTHS)
    settings, sizes = MaskPredictDecoding(), []
    expected = decode(model, source, token_mask, ENDS, settings)

    def short(model, source, *others):
        sizes.append(len(source))
        if len(source) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return mask_predict(model, source, *others)

    monkeypatch.setattr(decoding, "mask_predict", short)
    assert_same(decode(model, source, token_mask, ENDS, settings), expected)
    assert sizes[0] == 9 and min(sizes) == 1
    monkeypatch.setattr(decoding, "mask_predict", lambda *_: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(DataError) as error:
        decode(model, source[:1], token_mask[:1], ENDS, settings)
    assert str(error.value) == (
        "Out of memory on a single text of 9 tokens with 3 hypotheses; split or shorten it, or use a smaller "
        "length_candidates."
    )


def test_nothing_between_the_passes_depends_on_values():
    """What needs no value needs no answer from a device: all passes can be recorded as one."""
    with FakeTensorMode(), torch.no_grad():
        settings = MaskPredictSettings(width=16, heads=4, feed_forward_width=32, encoder_layers=1, decoder_layers=1)
        model = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True)).eval()
        memory = model.encode(torch.zeros(2, 6, dtype=torch.long), torch.ones(2, 6, dtype=torch.bool))
        lengths, _ = likely_lengths(model, memory, 3)
        memory = model.ready(memory).select(candidate_rows(lengths))
        tokens, sure = fill_in(
            model,
            memory,
            lengths.flatten(),
            12,
            MaskPredictState(2, 3, (0, 1, 2, 3), 4),
            torch.zeros(4, dtype=torch.long),
        )
    assert tokens.shape == sure.shape == (6, 12)
