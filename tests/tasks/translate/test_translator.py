import numpy as np
import pytest
import torch

import regard
from regard import miniature
from regard.decoding import generate as decoding
from regard.errors import CheckpointError, ConfigError, DataError
from regard.tasks.translate.options import SourceRow

SENTENCES = [pair.source for pair in miniature.pairs("test", 12)]


@pytest.fixture(scope="module")
def translator(quick_run):
    return regard.load(quick_run.best, device="cpu")


def test_text_in_text_out(translator):
    answer = translator("Der kleine Hund schläft im Garten.")
    assert isinstance(answer.text, str) and answer.text
    assert answer.source == "Der kleine Hund schläft im Garten."
    assert answer.text == answer.candidates[0].text and answer.score == answer.candidates[0].score
    assert len(answer.candidates) == translator.options().beam_size == 5


def test_a_list_comes_back_in_its_order_and_equals_single_calls(translator):
    for beam_size in (1, 4):
        together = translator(SENTENCES, beam_size=beam_size)
        for sentence, answer in zip(SENTENCES, together, strict=True):
            alone = translator(sentence, beam_size=beam_size)
            assert alone.text == answer.text and abs(alone.score - answer.score) < 1e-4


def test_blank_lines_stay_blank_and_in_place(translator):
    answers = translator(["", SENTENCES[0], "   ", SENTENCES[1]])
    assert [bool(answer.text) for answer in answers] == [False, True, False, True]
    assert answers[0].candidates == ()
    assert translator([]) == [] and translator([""])[0].text == ""


def test_scores_are_log_probabilities_by_length(translator):
    for candidate in translator(SENTENCES[0], beam_size=3).candidates:
        assert candidate.log_probability < 0
        length = len(candidate.tokens) + (candidate.finish_reason != "length")
        assert abs(candidate.score - candidate.log_probability / length) < 1e-6


def test_unknown_characters_do_no_harm(translator):
    assert isinstance(translator("日本語 😀 \u200b ﷽").text, str)


def test_decoding_settings_are_checked(translator):
    with pytest.raises(ConfigError, match="beems: unknown setting, given as 5"):
        translator("Ja.", beems=5)
    with pytest.raises(ConfigError, match="beam_size: 0 is out of range"):
        translator("Ja.", beam_size=0)


def test_inspection_gives_all_three_attentions(translator):
    trace = translator.inspect("Der kleine Hund schläft.", "The small dog sleeps.")
    source, target = len(trace.tokens["source"]), len(trace.tokens["target"])
    heads = translator.bundle.settings.heads
    assert trace.attention("cross", layer=-1).shape == (heads, target, source)
    assert trace.attention("encoder", layer=0).shape == (heads, source, source)
    own = trace.attention("decoder", layer=0)
    assert own.shape == (heads, target, target)
    assert np.allclose(own.sum(-1), 1, atol=1e-5) and np.allclose(np.triu(own, 1), 0)
    assert trace.tokens["source"][-1] == "</s>" and trace.tokens["target"][-1] == "</s>"
    assert trace.tokens["input"] == ["<s>", *trace.tokens["target"][:-1]]


def test_inspection_without_a_target_looks_at_the_model_s_own_translation(translator):
    trace = translator.inspect(SENTENCES[0])
    assert tuple(trace.tokens["target"][:-1]) == translator(SENTENCES[0]).tokens


def test_looking_changes_nothing(translator):
    before = translator(SENTENCES[1]).candidates
    translator.inspect(SENTENCES[1])
    assert translator(SENTENCES[1]).candidates == before


def test_what_is_recorded_is_what_the_model_does(translator):
    """The weights of the last cross-attention, applied to its values, give the heads that the model itself used."""
    model = translator.model
    trace = translator.inspect(SENTENCES[0], "The dog.", probes=["decoder.blocks.0.cross.*"])
    weights = torch.tensor(trace.arrays["decoder.blocks.0.cross.weights"])
    heads = torch.tensor(trace.arrays["decoder.blocks.0.cross.heads"])
    ids = [*translator.source_tokenizer.encode(SENTENCES[0]).ids, translator.source_tokenizer.eos_id]
    with torch.no_grad():
        memory = model.encode(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.bool))
        _, value = model.decoder.blocks[0].cross.project(memory.states)
    torch.testing.assert_close(weights @ value[0], heads, atol=1e-5, rtol=0)


def test_questions_that_have_no_answer_are_told(translator):
    trace = translator.inspect("Ja.")
    with pytest.raises(ConfigError) as error:
        trace.attention("self")
    assert str(error.value) == "attention: this model has no self attention; it has cross and encoder and decoder."
    with pytest.raises(ConfigError, match="layer: 7 is out of range, this model has 1 layers with cross"):
        trace.attention("cross", layer=7)
    with pytest.raises(ConfigError, match="inspect: no probe is named nothing"):
        translator.inspect("Ja.", probes=["nothing"])
    with pytest.raises(DataError, match="inspect: the source is empty; give it a sentence."):
        translator.inspect("  ")


def test_text_longer_than_the_model_takes_is_told_by_its_line(tmp_path, pairs):
    settings = {
        "model": {"preset": "transformer-tiny", "width": 16, "positions": "learned", "max_positions": 40},
        "text.size": 600,
        "train": {"steps": 2, "warmup": 1, "validate_every": 2},
        "validation.bleu_sentences": 0,
    }
    run = regard.train("translate", settings, data=pairs, out=tmp_path / "short")
    short = regard.load(run.best)
    with pytest.raises(DataError) as error:
        short(["Ja.", "sehr " * 200])
    tokens = len(short.source_tokenizer.encode("sehr " * 200).ids) + 1
    assert str(error.value) == (
        f"line 2 has {tokens:,} tokens, but this model takes 40 at most; split it into sentences."
    )
    assert len(short("Ja.").candidates[0].tokens) <= 40


def test_what_cannot_be_loaded_is_told(tmp_path):
    with pytest.raises(CheckpointError, match="there is no run or checkpoint here; check the path"):
        regard.load(tmp_path / "nothing")
    with pytest.raises(CheckpointError, match="^bert: there is no such folder; check the path.$"):
        regard.load("hf:bert")


def test_every_translation_begins_with_the_prefix(translator):
    for settings in ({"beam_size": 1}, {"beam_size": 4}, {"method": "sample", "num_samples": 2}):
        for prefix in ("The small", "The sm", "I "):
            for answer in translator(SENTENCES[:4], prefix=prefix, **settings):
                assert all(candidate.text.startswith(prefix) for candidate in answer.candidates)
    rows = [{"source": SENTENCES[0], "prefix": "The"}, SENTENCES[1], SourceRow(SENTENCES[2], "A man")]
    mixed = translator(rows)
    assert mixed[0].text.startswith("The") and mixed[2].text.startswith("A man")
    assert mixed[1].text == translator(SENTENCES[1]).text


def test_prefixes_that_cannot_be_are_told(translator):
    with pytest.raises(DataError, match=r"line 1: 2 values were given, but a row has source; leave some out\."):
        translator((SENTENCES[0], "The"))
    with pytest.raises(ConfigError) as error:
        translator("Ja.", prefix="The small dog", max_length=3)
    count = len(translator.target_tokenizer.encode("The small dog").ids)
    assert str(error.value) == (
        f'prefix: "The small dog" has {count} tokens, but the output may have 3 at most, EOS included; shorten it.'
    )


def test_a_draw_depends_on_the_line_and_not_on_the_neighbours(translator):
    together = translator(SENTENCES, method="sample", seed=4, temperature=0.9)
    for place, sentence in enumerate(SENTENCES):
        alone = translator(sentence, method="sample", seed=4, temperature=0.9, first_row=place + 1)
        assert alone.text == together[place].text and abs(alone.score - together[place].score) < 1e-4
    assert translator(SENTENCES, method="sample", seed=5, temperature=0.9) != together


def test_the_other_method_leaves_the_checkpoint_s_own_settings_behind(translator):
    assert translator.options().beam_size == 5 and translator.options(method="sample").beam_size == 1
    with pytest.raises(ConfigError, match="beam_size: 5 applies to beam search only; omit it"):
        translator("Ja.", method="sample", beam_size=5)


def test_alternatives_are_the_next_tokens_and_their_continuations(translator):
    found = translator.alternatives(SENTENCES[0], "The", count=4)
    assert len(found) == 4 and all(each.text.startswith("The") for each in found)
    chances = [each.probability for each in found]
    assert chances == sorted(chances, reverse=True) and 0 < sum(chances) <= 1 + 1e-5
    best = translator.score([(SENTENCES[0], found[0].text)])[0]
    if best.tokens[1] == found[0].token:
        assert abs(best.log_probabilities[1] - np.log(chances[0])) < 1e-4
    everything = translator.alternatives(SENTENCES[0], "The", count=10**6, beam_size=1)
    assert abs(sum(each.probability for each in everything) - 1) < 0.01
    (end,) = (each for each in everything if each.token == "</s>")
    assert end.text == "The"
    assert all(each.token.startswith("▁") for each in translator.alternatives(SENTENCES[0], "The ", count=4))
    with pytest.raises(DataError, match="alternatives: the source is empty; give it a sentence."):
        translator.alternatives(" ")


def test_scores_are_the_search_s_own(translator):
    answers = translator(SENTENCES, beam_size=3)
    scores = translator.score([(answer.source, answer.text) for answer in answers])
    compared = 0
    for answer, score in zip(answers, scores, strict=True):
        assert len(score.tokens) == len(score.log_probabilities) and score.tokens[-1] == "</s>"
        if score.tokens[:-1] == answer.tokens and answer.candidates[0].finish_reason != "length":
            assert abs(score.log_probability - answer.candidates[0].log_probability) < 1e-4
            compared += 1
    assert compared > len(SENTENCES) / 2
    for pair, score in zip(answers[:3], scores[:3], strict=True):
        (alone,) = translator.score([(pair.source, pair.text)])
        assert abs(alone.log_probability - score.log_probability) < 1e-4
    assert translator.score([]) == []


def test_perplexity_is_that_of_evaluation(translator):
    from regard import miniature
    from regard.metrics.perplexity import perplexity

    pairs = miniature.pairs("test", 12)
    expected = regard.evaluate(translator, pairs, beam_size=1)["data"].metrics["perplexity"]
    assert abs(perplexity(translator.score(pairs)) / expected - 1) < 1e-4


def test_an_ensemble_of_a_model_with_itself_is_that_model(quick_run, translator):
    twice = regard.load(quick_run.best, device="cpu", ensemble=[quick_run.best])
    for ours, theirs in zip(twice(SENTENCES, beam_size=3), translator(SENTENCES, beam_size=3), strict=True):
        assert ours.text == theirs.text and abs(ours.score - theirs.score) < 1e-4


def test_an_ensemble_needs_one_tokenizer(quick_run, pairs, tmp_path):
    settings = {
        "model": {"preset": "transformer-tiny", "width": 16},
        "text.size": 600,
        "train": {"steps": 1, "warmup": 1, "validate_every": 1},
        "validation.bleu_sentences": 0,
    }
    run = regard.train("translate", settings, data=pairs, out=tmp_path / "other")
    with pytest.raises(CheckpointError) as error:
        regard.load(quick_run.best, ensemble=[run.path])
    assert str(error.value) == (
        f"{run.path}: its source tokenizer is not that of {quick_run.best}, so they do not predict the same tokens; "
        f"train one of them with the other's (text.tokenizer)."
    )


def test_a_line_of_twenty_thousand_tokens_is_refused_before_memory_is_taken(translator):
    line = "sehr " * 20_000
    tokens = len(translator.source_tokenizer.encode(line).ids) + 1
    for ask in (lambda: translator(["Ja.", line]), lambda: translator.score([("Ja.", "Yes."), ("Ja.", line)])):
        with pytest.raises(DataError) as error:
            ask()
        assert str(error.value).startswith("line 2 has ") and str(error.value).endswith(
            "tokens, more than decode.max_source_length 1,024; split it into sentences, or raise the setting if "
            "there is memory for it."
        )
    assert tokens >= 20_000
    with pytest.raises(DataError, match="line 1,002 has"):
        translator(["Ja.", line], first_row=1001)
    assert translator("sehr " * 100, beam_size=2, max_length=20).text  # long but not too long


def test_texts_that_do_not_fit_together_are_decoded_apart(translator, monkeypatch):
    whole = decoding._together
    sizes = []

    def narrow(job, requests):
        sizes.append(len(requests))
        if len(requests) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return whole(job, requests)

    expected = translator(SENTENCES, beam_size=2)
    drawn = translator(SENTENCES, method="sample")
    monkeypatch.setattr(decoding, "_together", narrow)
    assert [each.text for each in translator(SENTENCES, beam_size=2)] == [each.text for each in expected]
    assert [each.text for each in translator(SENTENCES, method="sample")] == [each.text for each in drawn]
    assert max(sizes) > 1

    def never(*_):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(decoding, "_together", never)
    with pytest.raises(DataError, match=r"^Out of memory on a single text of \d+ tokens with 2 "):
        translator(SENTENCES, beam_size=2)
