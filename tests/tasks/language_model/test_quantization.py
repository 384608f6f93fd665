"""Language models that hold int8 weights: what they say, and what it costs."""

import math
import statistics

import numpy as np
import pytest
import torch

import regard
from generators import STORIES, language_bundle, tokenizer_of
from regard.checkpoint.bundle import write_bundle
from regard.errors import ConfigError
from regard.metrics.perplexity import perplexity
from regard.nn.inference.int8 import can_multiply_int8
from regard.tasks.language_model import quantization as weights
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.language_model.quantization import weights_cost
from regard.tasks.load import load

PROMPTS = ["Anna went to", "", "Peter lived in a city. He had", "größer 日本語 😀", "A dog "]
CLOSE = 1e-3
"""How near log probabilities of the same tokens are in other batches: what attention rounds may move a digit."""

needs_int8 = pytest.mark.skipif(not can_multiply_int8(), reason="this build of torch does not multiply int8 weights")


@pytest.fixture(scope="module")
def tokenizer():
    return tokenizer_of("byte-level")


@pytest.fixture(scope="module")
def folder(tokenizer, tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "model"
    write_bundle(path, language_bundle(tokenizer, generate={"max_new_tokens": 12}))
    return path


def generator_of(tokenizer, family):
    return Generator(language_bundle(tokenizer, family), "int8")


@needs_int8
@pytest.mark.parametrize("family", ["gpt", "rotary", "lstm"])
def test_batched_is_single_and_streamed_is_whole(tokenizer, family):
    generator = generator_of(tokenizer, family)
    for settings in ({"temperature": 0}, {"num_samples": 2, "top_p": 0.9, "seed": 4}):
        together = generator(PROMPTS, max_new_tokens=16, **settings)
        for place, (prompt, answer) in enumerate(zip(PROMPTS, together, strict=True)):
            alone = generator(prompt, max_new_tokens=16, first_row=place + 1, **settings)
            assert alone.ids == answer.ids
            assert alone.log_probabilities == pytest.approx(answer.log_probabilities, abs=CLOSE)
    for prompt in PROMPTS[:2]:
        assert "".join(generator.stream(prompt, max_new_tokens=16)) == generator(prompt, max_new_tokens=16).text


@needs_int8
@pytest.mark.parametrize("family", ["gpt", "rotary", "lstm"])
def test_cached_is_uncached(tokenizer, family):
    generator = generator_of(tokenizer, family)
    for answer in generator(["Anna", "The dog"], max_new_tokens=12, temperature=0):
        ids = [tokenizer.eos_id, *tokenizer.encode_batch([answer.prompt])[0], *answer.ids]
        with torch.inference_mode():
            whole = generator.model(torch.tensor([ids[:-1]]))[0].log_softmax(-1)
        values = whole[-len(answer.ids) :].gather(1, torch.tensor(answer.ids)[:, None])[:, 0]
        assert values.tolist() == pytest.approx(answer.log_probabilities, abs=CLOSE)


@needs_int8
def test_the_cost_is_the_difference_between_two_perplexities(folder):
    generator = load(folder, "cpu", quantize="int8", task="language-model")
    plain = load(folder, "cpu", task="language-model")
    texts = STORIES[:5]
    full, held = plain.score(texts), generator.score(texts)
    cost = generator.weights_cost(texts)
    assert cost.full_perplexity == pytest.approx(perplexity(full), rel=1e-5)
    assert cost.perplexity == pytest.approx(perplexity(held), rel=1e-5)
    assert cost.full_perplexity != cost.perplexity and abs(cost.change) < 0.05
    assert cost.tokens == sum(len(each.tokens) for each in full)
    assert perplexity(generator.score(texts, full=True)) == pytest.approx(perplexity(full), rel=1e-6)
    assert perplexity(generator.score(texts)) == pytest.approx(perplexity(held), rel=1e-6)
    ids = [generator.tokenizer.encode_batch([text])[0] for text in texts]
    assert generator.weights_cost(ids) == cost
    with pytest.raises(ConfigError, match=r"^quantize: this model has its full weights, so there is no"):
        plain.weights_cost(texts)


def test_the_error_of_the_cost_is_that_of_a_mean():
    full, held = [[-1.0, -2.0], [-3.0]], [[-1.1, -2.0], [-3.3]]
    cost = weights_cost(full, held)
    assert cost.full_perplexity == pytest.approx(math.exp(2)) and cost.tokens == 3
    assert cost.perplexity == pytest.approx(math.exp(6.4 / 3))
    error = statistics.stdev([0.1, 0.0, 0.3]) / math.sqrt(3)
    assert cost.error == pytest.approx(error * math.exp(0.4 / 3))
    assert str(cost) == (
        f"int8 weights: perplexity {math.exp(6.4 / 3):.4f}, with full weights {math.exp(2):.4f}: "
        f"{math.exp(0.4 / 3) - 1:+.3%} (± {cost.error:.3%}) over 3 tokens"
    )
    with pytest.raises(ConfigError, match=r"^quantize: there are no tokens to measure the cost on; give a text"):
        weights_cost([[]], [[]])


@needs_int8
def test_what_is_looked_at_is_what_answers(folder):
    generator = regard.load(folder, "cpu", quantize="int8")
    plain = regard.load(folder, "cpu")
    text = "Anna had a dog."
    for name in ("inspect", "logit_lens"):
        held, full = getattr(generator, name)(text), getattr(plain, name)(text)
        assert set(held.arrays) == set(full.arrays)
        assert any((held.arrays[each] != full.arrays[each]).any() for each in held.arrays)
    last = generator.logit_lens(text).arrays["blocks.1.probabilities"]
    chances = [[each.probability for each in choices] for choices in generator.next_tokens(text)]
    assert last == pytest.approx(np.array(chances), abs=1e-4)


@needs_int8
def test_another_pipeline_of_the_same_model_has_its_own_weights_again(tokenizer):
    bundle = language_bundle(tokenizer)
    plain = perplexity(Generator(bundle).score(STORIES[:2]))
    assert perplexity(Generator(bundle, "int8").score(STORIES[:2])) != plain
    assert perplexity(Generator(bundle).score(STORIES[:2])) == plain


def refusal(*given):
    with pytest.raises(ConfigError) as caught:
        weights.check_quantize(*given)
    return str(caught.value)


def test_weights_that_cannot_be_are_refused(folder, quick_run, monkeypatch):
    cpu = torch.device("cpu")
    assert refusal("int8", torch.device("cuda"), "fp32") == (
        "quantize: int8 weights are for a CPU, and this model is on cuda; leave them out, or choose the device cpu."
    )
    assert refusal("int8", cpu, "bf16") == (
        "quantize: int8 weights go with the precision fp32, not bf16; leave one of them out."
    )
    assert refusal("int4", cpu, "fp32") == 'quantize: "int4" is not one of none, int8.'
    with pytest.raises(ConfigError, match='^quantize: "int4" is not one of none, int8.$'):
        regard.load(folder, "cpu", quantize="int4")
    monkeypatch.setattr(weights, "can_multiply_int8", lambda: False)
    assert refusal("int8", cpu, "fp32") == (
        "quantize: this build of torch cannot multiply int8 weights on this machine; leave them out."
    )
    weights.check_quantize("none", torch.device("cuda"), "bf16")
    monkeypatch.setattr(weights, "can_multiply_int8", lambda: True)
    with pytest.raises(ConfigError) as caught:
        regard.load(quick_run.path, "cpu", quantize="int8")
    assert str(caught.value) == (
        f"quantize: {quick_run.path} is a translator, and only language models take int8; leave it out."
    )
