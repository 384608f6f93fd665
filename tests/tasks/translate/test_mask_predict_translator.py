"""A translator that fills in words: what it answers, what it shows, and what it has no use for."""

import numpy as np
import pytest

import regard
from regard import miniature
from regard.errors import ConfigError, DataError
from regard.tasks.translate.mask_predict import MaskPredictTranslator
from regard.tasks.translate.pipeline import Translator

SENTENCES = [pair.source for pair in miniature.pairs("test", 12)]


@pytest.fixture(scope="module")
def translator(masked_run):
    return regard.load(masked_run.best, device="cpu")


def test_the_model_of_a_run_says_which_translator_it_is(translator, quick_run):
    assert type(translator) is MaskPredictTranslator
    assert type(regard.load(quick_run.best, device="cpu")) is Translator


def test_text_in_text_out(translator):
    answer = translator("Der kleine Hund schläft im Garten.")
    assert answer.text and answer.text == answer.candidates[0].text and answer.score == answer.candidates[0].score
    assert 1 <= len(answer.candidates) <= 3
    assert all(
        (candidate.finish_reason != "length") and candidate.log_probability < 0 for candidate in answer.candidates
    )


def test_a_list_comes_back_in_its_order_and_equals_single_calls(translator):
    together = translator(["", *SENTENCES], iterations=3)
    assert together[0].text == ""
    for sentence, answer in zip(SENTENCES, together[1:], strict=True):
        alone = translator(sentence, iterations=3)
        assert alone.text == answer.text and abs(alone.score - answer.score) < 1e-4


def test_the_trace_shows_every_pass(translator):
    answer, trace = translator(SENTENCES[0]), translator.inspect(SENTENCES[0])
    assert tuple(trace.tokens["target"][:-1]) == answer.tokens and trace.tokens["target"][-1] == "</s>"
    assert trace.tokens["passes.3"] == trace.tokens["target"] and "passes.4" not in trace.tokens
    words = len(answer.tokens)
    masked = [trace.arrays[f"passes.{number}.masked"] for number in range(4)]
    assert [int(each.sum()) for each in masked] == [max(1, words * left // 4) for left in (4, 3, 2, 1)]
    sure = trace.arrays["passes.3.probabilities"]
    chance = trace.arrays["lengths.probabilities"][trace.arrays["lengths"] == words]
    assert np.log([*sure[:-1], *chance]).mean() == pytest.approx(answer.score, abs=1e-4) and sure[-1] == 1
    for number in (1, 2, 3):
        kept = masked[number] == 0
        before, after = (np.array(trace.tokens[f"passes.{each}"]) for each in (number - 1, number))
        assert (before[kept] == after[kept]).all()
    lengths, chances = trace.arrays["lengths"], trace.arrays["lengths.probabilities"]
    assert lengths.min() == 1 and words in lengths and 0.5 < chances.sum() <= 1.001
    assert len(translator.inspect(SENTENCES[0], iterations=2).tokens) == 4


def test_the_trace_shows_what_the_last_pass_looked_at(translator):
    trace = translator.inspect(SENTENCES[0])
    source, target = len(trace.tokens["source"]), len(trace.tokens["target"])
    heads = translator.bundle.settings.heads
    assert trace.attention("cross", layer=-1).shape == (heads, target, source)
    own = trace.attention("decoder", layer=0)
    assert own.shape == (heads, target, target) and np.triu(own, 1).max() > 0  # it looks ahead
    given = translator.inspect(SENTENCES[0], "The small dog sleeps.")
    assert given.tokens["target"][-1] == "</s>" and "passes.0" not in given.tokens
    assert given.attention("cross").shape[1] == len(given.tokens["target"])
    before = translator(SENTENCES[1]).candidates
    translator.inspect(SENTENCES[1])
    assert translator(SENTENCES[1]).candidates == before
    with pytest.raises(DataError, match="inspect: the source is empty"):
        translator.inspect(" ")


def test_what_has_no_meaning_is_refused_in_words(translator, quick_run, masked_run):
    with pytest.raises(ConfigError) as error:
        translator("Ja.", beam_size=5)
    assert str(error.value) == (
        "beam_size: 5 is for autoregressive models, and this is a mask-predict model; leave it out, and see "
        "iterations and length_candidates."
    )
    with pytest.raises(ConfigError) as error:
        regard.load(quick_run.best, device="cpu")("Ja.", iterations=5)
    assert str(error.value) == (
        "iterations: 5 is for mask-predict models, and this is an autoregressive one; leave it out."
    )
    with pytest.raises(ConfigError, match="iteratons: unknown setting, given as 5 .*; did you mean iterations?"):
        translator("Ja.", iteratons=5)
    with pytest.raises(ConfigError, match="^prefix: a mask-predict model predicts all tokens in parallel"):
        translator("Ja.", prefix="Yes")
    with pytest.raises(ConfigError, match="^alternatives: a mask-predict model predicts all tokens in parallel"):
        translator.alternatives("Ja.")
    with pytest.raises(ConfigError, match="^score: a conditional masked model predicts masked tokens"):
        translator.score([("Ja.", "Yes.")])
    with pytest.raises(ConfigError, match="^ensemble: only autoregressive models form an ensemble"):
        regard.load(masked_run.best, device="cpu", ensemble=[masked_run.best])
