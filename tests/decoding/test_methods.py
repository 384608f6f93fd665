"""Every method under every constraint: batched equals single, and the constraint holds."""

import pytest
import torch
from torch.testing import assert_close

from regard.config.resolve import Layer, resolve
from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences
from regard.decoding.scoring import target_log_probabilities
from regard.decoding.settings import TranslationDecoding
from regard.errors import ConfigError
from regard.text.prefix import Prefix, exact_prefix
from small import ENDS, VOCABULARY, decode, ending_model, log_probability, small_transformer, sources

LENGTHS = [9, 3, 7, 5, 1, 9]
METHODS = {
    "greedy": {"beam_size": 1},
    "beam": {"beam_size": 4},
    "sample": {"method": "sample", "num_samples": 2, "seed": 5},
    "narrow sample": {"method": "sample", "temperature": 0.7, "top_k": 12, "top_p": 0.9},
}
CONSTRAINTS = {
    "none": {},
    "no length penalty": {"length_penalty": "none"},
    "gnmt": {"length_penalty": "gnmt", "length_penalty_alpha": 0.6},
    "repetition": {"repetition_penalty": 1.7},
    "ngrams": {"no_repeat_ngram_size": 2},
    "lengths": {"min_length": 6, "max_length": 8},
    "all": {"repetition_penalty": 1.3, "no_repeat_ngram_size": 1, "min_length": 4},
}
PREFIXES = [exact_prefix([7, 9, 8]), None, exact_prefix([5]), Prefix(({4: 1, 6: 2}, {10: 2, 11: 2})), None, None]


def both(model, settings, prefixes=None):
    """Decode the sentences together, and each by itself."""
    source, token_mask = sources(LENGTHS)
    lines = [3, 1, 4, 15, 9, 2]
    together = decode(model, source, token_mask, ENDS, settings, prefixes, lines)
    apart = []
    for row, length in enumerate(LENGTHS):
        one = slice(row, row + 1)
        begun = prefixes and prefixes[one]
        apart += decode(model, source[one, :length], token_mask[one, :length], ENDS, settings, begun, lines[one])
    return together, apart


def assert_same(together, apart):
    for ours, theirs in zip(together, apart, strict=True):
        assert [each.ids for each in ours] == [each.ids for each in theirs]
        for one, other in zip(ours, theirs, strict=True):
            assert (one.finish_reason != "length") == (other.finish_reason != "length")
            assert abs(one.score - other.score) < 1e-4 and abs(one.log_probability - other.log_probability) < 1e-4


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "constraint, has_prefix", [*((name, False) for name in CONSTRAINTS), ("none", True), ("all", True)]
)
def test_batched_equals_single_and_the_constraint_holds(method, constraint, has_prefix):
    model = ending_model()
    chosen = METHODS[method] | CONSTRAINTS[constraint] | {"max_length_ratio": 1.0, "max_length_extra": 8}
    settings = TranslationDecoding(**chosen)
    prefixes = PREFIXES if has_prefix else None
    together, apart = both(model, settings, prefixes)
    assert_same(together, apart)
    source, _ = sources(LENGTHS)
    for row, (length, hypotheses) in enumerate(zip(LENGTHS, together, strict=True)):
        for found in hypotheses:
            said = len(found.ids) + (found.finish_reason != "length")
            expected = log_probability(model, source[row, :length], found.ids, (found.finish_reason != "length"))
            assert abs(found.log_probability - expected) < 1e-4  # the model's own, whatever led to it
            begun = len(prefixes[row].choices) if prefixes and prefixes[row] else 0
            assert settings.min_length <= said <= settings.limit(length, None, begun)
            assert not set(ENDS.never) & set(found.ids) and ENDS.eos_id not in found.ids
            size = settings.no_repeat_ngram_size
            if size and not has_prefix:
                ngrams = [tuple(found.ids[place : place + size]) for place in range(len(found.ids) - size + 1)]
                assert len(set(ngrams)) == len(ngrams)
            if prefixes and row == 0:
                assert found.ids[:3] == [7, 9, 8]
            if prefixes and row == 3:
                assert found.ids[0] == 6 or found.ids[:2] in ([4, 10], [4, 11])


def test_sentences_leave_the_batch_at_different_times():
    together, _ = both(ending_model(), TranslationDecoding(beam_size=4, max_length_ratio=1.0, max_length_extra=8))
    every = [found for hypotheses in together for found in hypotheses]
    assert {(found.finish_reason != "length") for found in every} == {True, False}
    assert len({len(found.ids) for found in every if (found.finish_reason != "length")}) > 4


def test_repetition_is_penalised_in_the_score():
    model = ending_model()
    source, token_mask = sources(LENGTHS)
    for beam_size in (1, 3):
        repeats = {}
        for penalty in (1.0, 1.5, 3.0):
            settings = TranslationDecoding(
                beam_size=beam_size, repetition_penalty=penalty, min_length=12, length_penalty="none"
            )
            found = [each for (each, *_) in decode(model, source, token_mask, ENDS, settings)]
            repeats[penalty] = sum(len(each.ids) - len(set(each.ids)) for each in found)
            for each in found:
                is_penalised = penalty > 1 and len(set(each.ids)) < len(each.ids)
                assert (each.score < each.log_probability - 1e-3) == is_penalised
        assert repeats[3.0] < repeats[1.0]


def test_where_nothing_is_left_to_say_the_end_comes():
    model = ending_model()
    source, token_mask = sources([6])
    everything = VOCABULARY - 4
    for chosen in METHODS.values():
        settings = TranslationDecoding(**chosen, no_repeat_ngram_size=1, min_length=100, max_length_ratio=100)
        for found in decode(model, source, token_mask, ENDS, settings)[0]:
            assert (found.finish_reason != "length") and sorted(found.ids) == list(range(4, 4 + everything))


def test_samples_do_not_depend_on_how_many_are_drawn_but_on_seed_and_line():
    model = ending_model()
    source, token_mask = sources([6, 6])
    source[1] = source[0]

    def ids(lines=(0, 1), **changes):
        settings = TranslationDecoding(method="sample", max_length_ratio=1.0, **changes)
        return [
            [each.ids for each in found] for found in decode(model, source, token_mask, ENDS, settings, None, lines)
        ]

    one, four = ids(), ids(num_samples=4)
    assert all(first[0] in several for first, several in zip(one, four, strict=True))
    assert len({tuple(each) for each in four[0]}) > 1
    assert one[0] != one[1] and one == ids() and one != ids(seed=2)
    assert ids(lines=(8, 8))[0] == ids(lines=(8, 8))[1]


def test_the_narrowest_sample_is_greedy():
    model = ending_model()
    source, token_mask = sources(LENGTHS)
    expected = decode(model, source, token_mask, ENDS, TranslationDecoding(beam_size=1))
    for narrow in ({"top_k": 1}, {"top_p": 1e-6}, {"temperature": 1e-3}):
        found = decode(model, source, token_mask, ENDS, TranslationDecoding(method="sample", **narrow))
        assert [each[0].ids for each in found] == [each[0].ids for each in expected]


def test_samples_are_as_frequent_as_they_are_probable():
    model = ending_model()
    count = 3000
    source, token_mask = sources([3])
    settings = TranslationDecoding(method="sample", max_length=1)
    found = decode(model, source.expand(count, -1), token_mask.expand(count, -1), ENDS, settings)
    with torch.no_grad():
        p = model(source, token_mask, torch.tensor([[ENDS.bos_id]]))[0, -1].softmax(-1)
    p[list(ENDS.never)] = 0
    said = torch.tensor([(each.ids or [ENDS.eos_id])[0] for (each,) in found])
    assert_close(torch.bincount(said, minlength=VOCABULARY) / count, p / p.sum(), atol=0.03, rtol=0)


def two_models():
    return [ending_model(), ending_model(seed=2)]


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_an_ensemble_says_what_the_mean_of_probabilities_does(method):
    models = two_models()
    settings = TranslationDecoding(**METHODS[method], max_length_ratio=1.0, max_length_extra=4)
    together, apart = both(models, settings)
    assert_same(together, apart)
    source, _ = sources(LENGTHS)
    for row, length in enumerate(LENGTHS):
        for found in together[row]:
            said = [*found.ids, ENDS.eos_id] if (found.finish_reason != "length") else found.ids
            target = torch.tensor([[ENDS.bos_id, *said[:-1]]])
            token_mask = torch.ones(1, length, dtype=torch.bool)
            with torch.no_grad():
                p = torch.stack(
                    [model(source[row : row + 1, :length], token_mask, target)[0].softmax(-1) for model in models]
                )
            expected = p.mean(0)[range(len(said)), said].log().sum().item()
            assert abs(found.log_probability - expected) < 1e-4


def test_a_model_agrees_with_itself():
    model = ending_model()
    source, token_mask = sources(LENGTHS)
    settings = TranslationDecoding(beam_size=3, max_length_ratio=1.0)
    alone, twice = (decode(models, source, token_mask, ENDS, settings) for models in (model, [model, model]))
    assert_same(alone, twice)


def test_scoring_gives_the_log_probability_that_the_search_had():
    models = two_models()
    source, token_mask = sources(LENGTHS)
    for members in (models[:1], models):
        found = decode(members, source, token_mask, ENDS, TranslationDecoding(beam_size=4, max_length_ratio=1.0))
        best = [hypotheses[0] for hypotheses in found]
        targets = [[*each.ids, ENDS.eos_id] if (each.finish_reason != "length") else each.ids for each in best]
        rows = [source[row, :length].tolist() for row, length in enumerate(LENGTHS)]
        pairs = EncodedPairs(Sequences.of(rows), Sequences.of(targets), 0, 0, ENDS.bos_id)
        values = target_log_probabilities(members, pairs.batch(torch.arange(len(rows)).numpy()))
        sums = [part.sum().item() for part in values.split([len(target) for target in targets])]
        assert all(abs(mine - each.log_probability) < 1e-4 for mine, each in zip(sums, best, strict=True))


def test_an_output_has_room_for_its_prefix_and_its_end():
    assert TranslationDecoding(max_length=3).limit(10, None, prefix=5) == 6
    assert TranslationDecoding(max_length_ratio=1.0, max_length_extra=1).limit(4) == 5
    assert TranslationDecoding(min_length=40).limit(2) == 40
    assert TranslationDecoding(max_length=7).limit(100) == 7
    assert TranslationDecoding(min_length=40).limit(2, bound=30) == 30


def test_a_model_with_a_bound_takes_a_forced_prefix():
    model = small_transformer(positions="learned", max_positions=7)
    source, token_mask = sources([6])
    settings = TranslationDecoding(beam_size=2)
    (found,) = decode(model, source, token_mask, ENDS, settings, [exact_prefix([4, 5, 6])])
    assert all(each.ids[:3] == [4, 5, 6] and len(each.ids) <= 7 for each in found)


CONTRADICTIONS = {
    "beams with sampling": (
        {"method": "sample", "beam_size": 5},
        'beam_size: 5 applies to beam search only; omit it, or set method "beam".',
    ),
    "coverage with sampling": (
        {"method": "sample", "coverage_penalty": 0.2},
        'coverage_penalty: 0.2 applies to beam search only; omit it, or set method "beam".',
    ),
    "top_p without sampling": (
        {"top_p": 0.9},
        'top_p: 0.9 applies to sampling only; set method "sample" too, or omit it.',
    ),
    "temperature without sampling": (
        {"beam_size": 1, "temperature": 0.5},
        'temperature: 0.5 applies to sampling only; set method "sample" too, or omit it.',
    ),
    "min over max": ({"min_length": 9, "max_length": 5}, "min_length: 9 is more than max_length 5."),
    "no penalty below one": (
        {"repetition_penalty": 0.5},
        "repetition_penalty: 0.5 is out of range, it must be greater than or equal to 1 (from the call).",
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_settings_that_contradict_each_other_are_told(name):
    values, expected = CONTRADICTIONS[name]
    with pytest.raises(ConfigError) as error:
        resolve(TranslationDecoding, [Layer("the call", values)])
    assert str(error.value) == expected


def test_settings_come_back_from_what_was_saved_of_them():
    for settings in (TranslationDecoding(), TranslationDecoding(method="sample", top_p=0.5)):
        assert TranslationDecoding.model_validate(settings.model_dump(mode="json")) == settings
    assert TranslationDecoding(method="sample").hypotheses == 1 and TranslationDecoding().hypotheses == 5
    assert TranslationDecoding(method="sample", num_samples=3).hypotheses == 3
