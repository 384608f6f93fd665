import numpy as np
import pytest
import torch

import regard
from regard.data import miniature
from regard.errors import CheckpointError, ConfigError, DataError

SENTENCES = [pair.source for pair in miniature.pairs("test", 12)]


@pytest.fixture(scope="module")
def translator(quick_run):
    return regard.load(quick_run.best, device="cpu")


def test_text_in_text_out(translator):
    answer = translator("Der kleine Hund schläft im Garten.")
    assert isinstance(answer.text, str) and answer.text
    assert answer.source == "Der kleine Hund schläft im Garten."
    assert answer.text == answer.candidates[0].text and answer.score == answer.candidates[0].score
    assert len(answer.candidates) == translator.decoding().beams == 5


def test_a_list_comes_back_in_its_order_and_equals_single_calls(translator):
    for beams in (1, 4):
        together = translator(SENTENCES, beams=beams)
        for sentence, answer in zip(SENTENCES, together, strict=True):
            alone = translator(sentence, beams=beams)
            assert alone.text == answer.text and abs(alone.score - answer.score) < 1e-4


def test_blank_lines_stay_blank_and_in_place(translator):
    answers = translator(["", SENTENCES[0], "   ", SENTENCES[1]])
    assert [bool(answer.text) for answer in answers] == [False, True, False, True]
    assert answers[0].candidates == ()
    assert translator([]) == [] and translator([""])[0].text == ""


def test_scores_are_log_probabilities_by_length(translator):
    for candidate in translator(SENTENCES[0], beams=3).candidates:
        assert candidate.log_probability < 0
        length = len(candidate.tokens) + candidate.is_finished
        assert abs(candidate.score - candidate.log_probability / length) < 1e-6


def test_unknown_characters_do_no_harm(translator):
    assert isinstance(translator("日本語 😀 \u200b ﷽").text, str)


def test_decoding_settings_are_checked(translator):
    with pytest.raises(ConfigError, match="beems: unknown setting, given as 5"):
        translator("Ja.", beems=5)
    with pytest.raises(ConfigError, match="beams: 0 is out of range"):
        translator("Ja.", beams=0)


def test_inspection_gives_all_three_attentions(translator):
    trace = translator.inspect("Der kleine Hund schläft.", "The small dog sleeps.")
    source, target = len(trace.tokens["source"]), len(trace.tokens["target"])
    heads = translator.bundle.settings.heads
    assert trace.attention("decoder", "cross", layer=-1).shape == (heads, target, source)
    assert trace.attention("encoder", "self", layer=0).shape == (heads, source, source)
    own = trace.attention("decoder", "self", layer=0)
    assert own.shape == (heads, target, target)
    assert np.allclose(own.sum(-1), 1, atol=1e-5) and np.allclose(np.triu(own, 1), 0)
    assert trace.tokens["source"][-1] == "</s>" and trace.tokens["target"][0] == "<s>"


def test_inspection_without_a_target_looks_at_the_model_s_own_translation(translator):
    trace = translator.inspect(SENTENCES[0])
    assert tuple(trace.tokens["target"][1:]) == translator(SENTENCES[0]).tokens


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
    ids = [*translator.source_tokenizer.encode(SENTENCES[0]).ids, translator.source_tokenizer.end]
    with torch.no_grad():
        memory = model.encode(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.bool))
        _, value = model.decoder.blocks[0].cross.project(memory.states)
    torch.testing.assert_close(weights @ value[0], heads, atol=1e-5, rtol=0)


def test_questions_that_have_no_answer_are_told(translator):
    trace = translator.inspect("Ja.")
    with pytest.raises(ConfigError) as error:
        trace.attention("encoder", "cross")
    assert str(error.value) == (
        'attention: there is no "encoder" "cross"; known are "encoder" "self", "decoder" "self", "decoder" "cross".'
    )
    with pytest.raises(ConfigError, match="layer: 7 is out of range, this model has 1 decoder layers with cross"):
        trace.attention("decoder", "cross", layer=7)
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
    run = regard.train(pairs, settings, out=tmp_path / "short")
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
