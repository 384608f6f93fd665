import math

import numpy as np
import pytest
import torch

import regard
from generators import STORIES, language_bundle, small_generator, tokenizer_of
from regard.checkpoint.bundle import write_bundle
from regard.errors import CheckpointError, ConfigError, DataError
from regard.metrics.perplexity import bits_per_byte, perplexity, word_perplexity
from regard.tasks.language_model.pipeline import Generator

PROMPTS = ["Anna went to", "", "The", "Peter lived in a city. He had", "größer 日本語 😀", "A dog "]
FAMILIES = ["gpt", "rotary", "lstm"]


@pytest.fixture(scope="module")
def tokenizers():
    return {pretokenizer: tokenizer_of(pretokenizer) for pretokenizer in ("metaspace", "byte-level")}


@pytest.fixture(scope="module")
def generator(tokenizers):
    return small_generator(tokenizers["byte-level"], generate={"max_new_tokens": 20})


def test_text_in_text_out(generator):
    answer = generator("Anna went to")
    assert answer.prompt == "Anna went to" and answer.text and answer.samples == ()
    assert len(answer.tokens) == len(answer.ids) == len(answer.log_probabilities) <= 20
    assert answer.finish_reason in ("eos", "length")
    assert (
        generator("Anna", max_new_tokens=5, temperature=0).text
        == generator("Anna", max_new_tokens=5, temperature=0).text
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pretokenizer", ["metaspace", "byte-level"])
def test_a_list_comes_back_in_its_order_and_equals_single_calls(tokenizers, family, pretokenizer):
    generator = small_generator(tokenizers[pretokenizer], family)
    for settings in ({"temperature": 0}, {"num_samples": 2, "top_p": 0.9, "seed": 4}):
        together = generator(PROMPTS, max_new_tokens=30, **settings)
        for place, (prompt, answer) in enumerate(zip(PROMPTS, together, strict=True)):
            alone = generator(prompt, max_new_tokens=30, first_row=place + 1, **settings)
            assert alone.prompt == answer.prompt == prompt and alone.text == answer.text
            assert alone.ids == answer.ids and alone.finish_reason == answer.finish_reason
            assert alone.log_probabilities == pytest.approx(answer.log_probabilities, abs=1e-4)
            assert [each.text for each in alone.samples] == [each.text for each in answer.samples]
    assert generator([]) == []


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pretokenizer", ["metaspace", "byte-level"])
def test_what_is_streamed_is_the_whole(tokenizers, family, pretokenizer):
    generator = small_generator(tokenizers[pretokenizer], family)
    for prompt in PROMPTS:
        for stop in (None, "e", ["an", "\n"]):
            pieces = list(generator.stream(prompt, max_new_tokens=120, stop=stop))
            answer = generator(prompt, max_new_tokens=120, stop=stop)
            assert "".join(pieces) == answer.text and all(pieces)


def test_the_model_may_be_used_between_pieces(generator):
    expected = generator("Anna").text
    assert "".join(piece for piece in generator.stream("Anna") if generator("The", max_new_tokens=2)) == expected


def test_text_stops_before_a_stop(generator):
    whole = generator("Anna", max_new_tokens=60, seed=2).text
    stop = whole[5:8]
    answer = generator("Anna", max_new_tokens=60, seed=2, stop=stop)
    assert answer.text == whole[: whole.index(stop)] and answer.finish_reason == "stop"
    assert len(answer.ids) < 60 and generator.tokenizer.decode(answer.ids).find(stop) == len(answer.text)
    both = generator("Anna", max_new_tokens=60, seed=2, stop=["never said ever", stop])
    assert both.text == answer.text


def test_an_end_token_ends(tokenizers):
    generator = small_generator(tokenizers["byte-level"])
    finished = [answer for answer in generator([""] * 400, max_new_tokens=60) if answer.finish_reason == "eos"]
    assert finished
    for answer in finished:
        assert answer.tokens[-1] == "</s>" and "</s>" not in answer.text and answer.ids.count(answer.ids[-1]) == 1
    longer = generator([""] * 400, max_new_tokens=60, min_new_tokens=60)
    assert all(len(answer.ids) == 60 for answer in longer)


def test_samples_are_those_of_their_numbers(generator):
    answer = generator("Anna", num_samples=4, seed=9)
    assert len(answer.samples) == 4 and answer.samples[0].text == answer.text
    assert len({each.text for each in answer.samples}) == 4
    fewer = generator("Anna", num_samples=2, seed=9)
    assert [each.text for each in fewer.samples] == [each.text for each in answer.samples[:2]]
    assert generator("Anna", num_samples=4, seed=9) == answer != generator("Anna", num_samples=4, seed=10)


def test_an_empty_prompt_begins_after_the_end_token(generator):
    ids = [generator.tokenizer.eos_id]
    with torch.no_grad():
        log_p = generator.model(torch.tensor([ids]))[0, -1].log_softmax(-1)
    log_p[[generator.tokenizer.pad_id, generator.tokenizer.bos_id, generator.tokenizer.unk_id]] = -torch.inf
    for add_bos in (True, False):
        answer = generator("", max_new_tokens=1, temperature=0, add_bos=add_bos)
        assert answer.ids == (int(log_p.argmax()),)


def test_a_prompt_may_be_taken_from_the_middle_of_a_text(generator):
    ids = generator.tokenizer.encode("Anna went").ids
    for add_bos, front in ((True, [generator.tokenizer.eos_id]), (False, [])):
        answer = generator("Anna went", max_new_tokens=1, temperature=0, add_bos=add_bos)
        with torch.no_grad():
            log_p = generator.model(torch.tensor([[*front, *ids]]))[0, -1].log_softmax(-1)
        assert answer.log_probabilities[0] == pytest.approx(float(log_p[answer.ids[0]]), abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_s_score_is_what_generation_gave_it(tokenizers, family):
    generator = small_generator(tokenizers["byte-level"], family)
    compared = 0
    for answer in generator(PROMPTS[:3] * 40, max_new_tokens=2, seed=3):
        (score,) = generator.score([answer.prompt + answer.text])
        if score.ids == (*generator.tokenizer.encode(answer.prompt).ids, *answer.ids):
            assert score.log_probabilities[-len(answer.ids) :] == pytest.approx(answer.log_probabilities, abs=1e-4)
            compared += 1
    assert compared


def test_scores_are_the_model_s_own(generator):
    texts = ["Anna had a dog.", "größer 😀", "The dog"]
    scores = generator.score(texts, alternatives=3)
    end = generator.tokenizer.eos_id
    for text, score in zip(texts, scores, strict=True):
        ids = generator.tokenizer.encode(text).ids
        with torch.no_grad():
            log_p = generator.model(torch.tensor([[end, *ids]]))[0].log_softmax(-1)
        expected = log_p[range(len(ids)), ids].tolist()
        assert score.text == text and list(score.ids) == ids and len(score.tokens) == len(ids)
        assert score.log_probabilities == pytest.approx(expected, abs=1e-4)
        assert score.log_probability == pytest.approx(sum(expected), abs=1e-3)
        assert score.perplexity == pytest.approx(math.exp(-np.mean(expected)), rel=1e-4)
        assert score.word_perplexity == pytest.approx(math.exp(-sum(expected) / len(text.split())), rel=1e-3)
        assert score.bits_per_byte == pytest.approx(-sum(expected) / math.log(2) / len(text.encode()), rel=1e-4)
        for row, choices in zip(log_p, score.alternatives):
            assert [choice.id for choice in choices] == row.topk(3).indices.tolist()
            assert [choice.probability for choice in choices] == pytest.approx(row.exp().topk(3).values.tolist())
            assert choices[0].token == generator.tokenizer.tokens([choices[0].id])[0]
    count = sum(len(score.ids) for score in scores)
    total = sum(score.log_probability for score in scores)
    assert perplexity(scores) == pytest.approx(math.exp(-total / count))
    assert word_perplexity(scores) == pytest.approx(math.exp(-total / 8))
    assert bits_per_byte(scores) == pytest.approx(-total / math.log(2) / sum(len(each.encode()) for each in texts))
    (with_end,) = generator.score(["Anna"], score_eos=True)
    assert with_end.tokens[-1] == "</s>" and with_end.log_probabilities[:-1] == pytest.approx(
        generator.score(["Anna"])[0].log_probabilities, abs=1e-4
    )
    (blank,) = generator.score([""])
    assert blank.ids == () and math.isnan(blank.perplexity) and math.isnan(blank.bits_per_byte)
    assert generator.score([]) == []


@pytest.mark.parametrize("stride", [None, 1, 5, 24])
def test_long_texts_are_scored_in_windows(generator, stride):
    """By hand: a window begins a stride after the one before, the last one is whole, and no token counts twice."""
    text = " ".join(STORIES[:2])
    ids = [generator.tokenizer.eos_id, *generator.tokenizer.encode(text).ids]
    step, window, expected = stride or 12, 24, {}
    last = len(ids) - 1 - window
    for begin in [*range(0, last, step), last]:
        with torch.no_grad():
            log_p = generator.model(torch.tensor([ids[begin : begin + window]]))[0].log_softmax(-1)
        for place in range(window):
            expected.setdefault(begin + place + 1, float(log_p[place, ids[begin + place + 1]]))
    short, long = generator.score(["Anna", text], stride=stride)
    assert long.log_probabilities == pytest.approx([expected[place] for place in sorted(expected)], abs=1e-4)
    assert len(long.ids) == len(ids) - 1 > 100
    assert short.log_probabilities == pytest.approx(generator.score(["Anna"])[0].log_probabilities, abs=1e-4)


def test_the_window_is_the_model_s_the_trained_one_or_none(tokenizers):
    text = " ".join(STORIES[:3])
    recurrent = small_generator(tokenizers["byte-level"], "lstm", window=24)
    rotary = small_generator(tokenizers["byte-level"], "rotary", window=24)
    assert (recurrent.score.reach, rotary.score.reach) == (None, 24)
    assert small_generator(tokenizers["byte-level"]).score.reach == 24
    assert len(recurrent.score([text])[0].ids) > 200
    with pytest.raises(ConfigError) as error:
        recurrent.score([text], stride=4)
    assert str(error.value) == "stride: 4 is for models with a context window; this one takes a text as a whole."
    with pytest.raises(ConfigError) as error:
        rotary.score([text], stride=25)
    assert str(error.value) == "stride: 25 does not lie between 1 and 24, the tokens this model takes."
    whole, trained = (
        rotary(text, max_new_tokens=3, context_window=window, temperature=0) for window in (None, "trained")
    )
    assert whole.log_probabilities != pytest.approx(trained.log_probabilities, abs=1e-4)
    numbered = rotary(text, max_new_tokens=3, context_window=24, temperature=0)
    assert numbered == trained


def test_next_tokens_are_those_of_every_position(generator):
    choices_at = generator.next_tokens("Anna had", count=4)
    score = generator.score(["Anna had"])[0]
    assert len(choices_at) == len(score.ids) + 1 and all(len(choices) == 4 for choices in choices_at)
    chances = [choice.probability for choice in choices_at[0]]
    assert chances == sorted(chances, reverse=True)
    assert generator("Anna had", max_new_tokens=1, temperature=0).ids[0] in [choice.id for choice in choices_at[-1]]


def test_inspection_gives_the_attention_of_every_layer_and_head(generator):
    trace = generator.inspect("Anna had a dog.")
    count = len(trace.tokens["text"])
    assert trace.tokens["text"][0] == "</s>" and trace.layers("self") == 2
    for layer in (0, 1, -1):
        weights = trace.attention("self", layer)
        assert weights.shape == (4, count, count)
        assert np.allclose(weights.sum(-1), 1, atol=1e-5) and np.allclose(np.triu(weights, 1), 0)
    hidden = generator.inspect("Anna", probes=["hidden.*", "blocks.0.attention.heads"])
    assert sorted(hidden.arrays) == ["blocks.0.attention.heads", "hidden.0", "hidden.1"]
    before = generator("Anna", seed=3)
    generator.inspect("Anna")
    assert generator("Anna", seed=3) == before


def test_the_lens_shows_what_each_block_would_say(generator):
    text = "Anna had a dog."
    trace = generator.logit_lens(text, count=3)
    length = len(trace.tokens["text"])
    assert sorted(trace.arrays) == [f"blocks.{n}.{name}" for n in (0, 1) for name in ("ids", "probabilities")]
    assert all(array.shape == (length, 3) for array in trace.arrays.values())
    last = generator.next_tokens(text, 3)
    assert trace.arrays["blocks.1.ids"].tolist() == [[choice.id for choice in choices] for choices in last]
    expected = [[choice.probability for choice in choices] for choices in last]
    assert np.allclose(trace.arrays["blocks.1.probabilities"], expected, atol=1e-5)
    assert trace.tokens["blocks.1"] == [choices[0].token for choices in last]
    model = generator.model
    hidden = torch.from_numpy(generator.inspect(text, probes=["hidden.0"]).arrays["hidden.0"])
    with torch.no_grad():
        first = model.project(model.norm(hidden)).softmax(-1).topk(3)
    assert np.allclose(trace.arrays["blocks.0.probabilities"], first.values.numpy(), atol=1e-5)


def test_questions_that_have_no_answer_are_told(tokenizers):
    generator = small_generator(tokenizers["byte-level"])
    recurrent = small_generator(tokenizers["byte-level"], "gru")
    long = "Anna had a dog. " * 20
    count = len(generator.tokenizer.encode(long).ids) + 1
    too_long = f"the text has {count} tokens including EOS before it, but this model takes 24 at most; shorten it."
    assert len(recurrent.inspect("Anna").arrays["hidden"]) == len(recurrent.inspect("Anna").tokens["text"])
    refused = {
        "logit_lens: this model has no residual stream; use a model of the family gpt or bert.": (
            lambda: recurrent.logit_lens("Anna")
        ),
        "inspect: no probe is named x; this model has ": lambda: generator.inspect("Anna", probes=["x"]),
        f"inspect: {too_long}": lambda: generator.inspect(long),
        f"logit_lens: {too_long}": lambda: generator.logit_lens(long),
        "num_samples: 2 samples cannot be streamed together; ask for one, or call.": lambda: generator.stream(
            "", num_samples=2
        ),
        "context_window: 25 is more than the 24 tokens this model takes.": lambda: generator(
            "Anna", context_window=25
        ),
        'context_window: "trained" has no value in this checkpoint; give a number, or leave it out.': (
            lambda: generator("Anna", context_window="trained")
        ),
        "stream: this model is a language model, which generates one output at a time as a stream; give one row.": (
            lambda: generator.stream(["Anna"])
        ),
        "line 2 is not UTF-8 text; convert it first.": lambda: generator(["Anna", "sch\udcf6n"]),
        "tempratur: unknown setting, given as 1 (from the call); did you mean temperature?": (
            lambda: generator("Anna", tempratur=1)
        ),
    }
    for sentence, ask in refused.items():
        with pytest.raises((ConfigError, DataError)) as error:
            ask()
        assert str(error.value).startswith(sentence) and "\n" not in str(error.value)


def test_a_greedy_call_leaves_the_checkpoint_s_own_drawing_behind(tokenizers):
    generator = small_generator(
        tokenizers["byte-level"], generate={"top_p": 0.9, "max_new_tokens": 7, "num_samples": 2}
    )
    assert generator.options().top_p == 0.9 and generator.config["generate"]["top_p"] == 0.9
    greedy = generator.options(temperature=0)
    assert (greedy.top_p, greedy.num_samples, greedy.max_new_tokens) == (None, 1, 7)


def test_weights_that_are_no_numbers_are_told(tokenizers):
    generator = small_generator(tokenizers["byte-level"])
    with torch.no_grad():
        generator.model.head.weight.fill_(math.nan)
    for ask in (lambda: generator("Anna"), lambda: list(generator.stream("Anna"))):
        with pytest.raises(CheckpointError, match="^The model gives no probabilities: its weights are not numbers;"):
            ask()


def test_a_language_model_is_loaded_as_what_it_is(tokenizers, quick_run, tmp_path):
    bundle = language_bundle(tokenizers["byte-level"], generate={"max_new_tokens": 9}, window=24)
    write_bundle(tmp_path / "model", bundle)
    generator = regard.load(tmp_path / "model", device="cpu")
    assert isinstance(generator, Generator) and generator.options().max_new_tokens == 9
    assert generator("Anna", seed=2).text == Generator(bundle)("Anna", seed=2).text
    with pytest.raises(ConfigError) as error:
        regard.load(tmp_path / "model", ensemble=[tmp_path / "model"])
    assert str(error.value) == (
        f"ensemble: {tmp_path / 'model'} is a language model, and only translators form an ensemble; leave it out."
    )
    with pytest.raises(ConfigError, match="this is a language model, not a translator; use it with regard generate"):
        regard.load(quick_run.best, ensemble=[tmp_path / "model"])
