"""The package `openai`, unmodified, against a server process."""

import base64

import numpy as np
import openai
import pytest

from regard.tasks.load import load


@pytest.fixture(scope="module")
def client(url):
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def generator(models):
    return load(models / "gpt")


def test_models_are_listed(client):
    names = [each.id for each in client.models.list()]
    assert names == sorted(names) and "gpt" in names
    assert client.models.retrieve("gpt").owned_by == "regard"


def test_a_completion_is_that_of_a_call_with_the_same_seed(client, generator):
    answer = client.completions.create(model="gpt", prompt="Ann went", max_tokens=12, seed=3, temperature=0.7)
    alone = generator("Ann went", max_new_tokens=12, seed=3, temperature=0.7)
    (choice,) = answer.choices
    assert choice.text == alone.text and choice.finish_reason == "length" and choice.logprobs is None
    assert answer.usage.completion_tokens == len(alone.ids) == 12
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + 12


def test_temperature_0_is_greedy_whatever_else_clients_send(client, generator):
    answer = client.completions.create(model="gpt", prompt="Ann", max_tokens=6, temperature=0, top_p=1)
    assert answer.choices[0].text == generator("Ann", max_new_tokens=6, temperature=0).text


def test_several_prompts_have_several_choices_in_order(client):
    answer = client.completions.create(model="gpt", prompt=["Ann", "Bob"], n=2, max_tokens=5, seed=1, echo=True)
    assert [each.index for each in answer.choices] == [0, 1, 2, 3]
    assert [each.text[:3] for each in answer.choices] == ["Ann", "Ann", "Bob", "Bob"]
    assert len({each.text for each in answer.choices}) == 4  # samples differ


def test_without_a_seed_two_requests_differ(client):
    texts = {client.completions.create(model="gpt", prompt="Ann", max_tokens=20).choices[0].text for _ in range(2)}
    assert len(texts) == 2


def test_token_ids_are_a_prompt(client, generator):
    ids = generator.tokenizer.encode("Ann went").ids
    text = client.completions.create(model="gpt", prompt=ids, max_tokens=5, temperature=0).choices[0].text
    many = client.completions.create(model="gpt", prompt=[ids, ids], max_tokens=5, temperature=0)
    assert text == generator("Ann went", max_new_tokens=5, temperature=0, add_bos=False).text
    assert [each.text for each in many.choices] == [text, text]


def test_a_stop_string_ends_a_completion_before_it(client):
    whole = client.completions.create(model="gpt", prompt="Ann", max_tokens=30, seed=1).choices[0].text
    stop = whole.split()[3]
    short = client.completions.create(model="gpt", prompt="Ann", max_tokens=30, seed=1, stop=[stop]).choices[0]
    assert short.finish_reason == "stop" and short.text == whole[: whole.index(stop)]


def test_log_probabilities_of_prompt_and_completion(client, generator):
    options = {"model": "gpt", "prompt": "Ann went", "max_tokens": 6, "seed": 3, "echo": True, "logprobs": 3}
    choice = client.completions.create(**options).choices[0]
    found = choice.logprobs
    assert "".join(found.tokens) == choice.text and found.token_logprobs[0] is None
    assert found.text_offset == [sum(map(len, found.tokens[:n])) for n in range(len(found.tokens))]
    alone = generator("Ann went", max_new_tokens=6, seed=3)
    assert found.token_logprobs[-6:] == pytest.approx(alone.log_probabilities, abs=1e-4)
    given = generator.score("Ann went").log_probabilities
    assert found.token_logprobs[1 : len(given)] == pytest.approx(given[1:], abs=1e-4)
    for value, top in zip(found.token_logprobs[1:], found.top_logprobs[1:], strict=True):
        assert 1 <= len(top) <= 3 and max(top.values()) >= value - 1e-6


def test_echo_alone_scores_a_text(client, generator):
    answer = client.completions.create(model="gpt", prompt="Ann went", max_tokens=0, echo=True, logprobs=1)
    assert answer.choices[0].text == "Ann went" and answer.usage.completion_tokens == 0
    scores = generator.score("Ann went").log_probabilities
    assert answer.choices[0].logprobs.token_logprobs[1:] == pytest.approx(scores[1:], abs=1e-4)


def test_the_best_of_several_is_the_most_probable(client):
    options = {"model": "gpt", "prompt": "Ann", "max_tokens": 5, "seed": 1, "logprobs": 0}
    every = client.completions.create(n=4, **options).choices
    best = client.completions.create(n=1, best_of=4, **options).choices
    value = lambda choice: sum(choice.logprobs.token_logprobs)
    assert [each.text for each in best] == [max(every, key=value).text]


@pytest.mark.parametrize("count", [1, 2])
def test_a_stream_is_the_completion_in_parts_with_its_usage_last(client, count):
    options = {"model": "gpt", "prompt": "Ann", "max_tokens": 20, "seed": 4, "n": count, "logprobs": 2}
    whole = client.completions.create(**options)
    *chunks, last = client.completions.create(**options, stream=True, stream_options={"include_usage": True})
    assert last.choices == [] and last.usage == whole.usage and all(each.usage is None for each in chunks)
    for index, choice in enumerate(whole.choices):
        parts = [part for each in chunks for part in each.choices if part.index == index]
        assert "".join(part.text for part in parts) == choice.text
        assert parts[-1].finish_reason == choice.finish_reason and parts[0].finish_reason is None
        tokens = [token for part in parts if part.logprobs for token in part.logprobs.tokens]
        offsets = [at for part in parts if part.logprobs for at in part.logprobs.text_offset]
        assert tokens == choice.logprobs.tokens and offsets == choice.logprobs.text_offset


def test_a_chat_without_a_template_is_refused_as_clients_know_it(client):
    with pytest.raises(openai.BadRequestError) as error:
        client.chat.completions.create(model="gpt", messages=[{"role": "user", "content": "Hello!"}])
    assert "has no chat template" in error.value.message and error.value.param == "messages"


def test_embeddings_are_those_of_a_call(client, models):
    texts = ["a good film", "a bad one"]
    wanted = load(models / "bert").embed(texts)
    answer = client.embeddings.create(model="bert", input=texts)  # base64 unless told otherwise
    plain = client.embeddings.create(model="bert", input=texts, encoding_format="float")
    for each, other, vector in zip(answer.data, plain.data, wanted, strict=True):
        assert np.allclose(each.embedding, vector, atol=1e-5) and np.allclose(other.embedding, vector, atol=1e-5)
    raw = client.embeddings.with_raw_response.create(model="bert", input=texts[0], encoding_format="base64")
    coded = raw.http_response.json()["data"][0]["embedding"]
    assert np.allclose(np.frombuffer(base64.b64decode(coded), "<f4"), wanted[0], atol=1e-5)
    short = client.embeddings.create(model="bert", input=texts[0], dimensions=4).data[0].embedding
    assert np.allclose(short, wanted[0][:4] / np.linalg.norm(wanted[0][:4]), atol=1e-5)
    assert answer.usage.prompt_tokens > 4


@pytest.mark.parametrize(
    ("options", "error", "parameter"),
    [
        ({"model": "nix"}, openai.NotFoundError, "model"),
        ({"model": "bert"}, openai.BadRequestError, "model"),
        ({"temperature": -1}, openai.BadRequestError, "temperature"),
        ({"max_tokens": 10**7}, openai.BadRequestError, None),
        ({"max_tokens": 0}, openai.BadRequestError, "max_tokens"),
        ({"n": 0}, openai.BadRequestError, "n"),
        ({"n": 3, "best_of": 2}, openai.BadRequestError, "best_of"),
        ({"stop": [""]}, openai.BadRequestError, "stop"),
        ({"suffix": "end"}, openai.BadRequestError, "suffix"),
        ({"logit_bias": {"5": 1}}, openai.BadRequestError, "logit_bias"),
        ({"prompt": [1, 10**6]}, openai.BadRequestError, "prompt"),
        ({"prompt": []}, openai.BadRequestError, "prompt"),
        ({"extra_body": {"colour": "red"}}, openai.BadRequestError, "colour"),
    ],
)
def test_what_is_wrong_is_told_as_the_client_expects(client, options, error, parameter):
    with pytest.raises(error) as refused:
        client.completions.create(**{"model": "gpt", "prompt": "Ann"} | options)
    assert refused.value.param == parameter and refused.value.body["type"] == "invalid_request_error"
    assert refused.value.request_id


def test_a_stream_that_cannot_begin_has_a_status(client):
    with pytest.raises(openai.BadRequestError):
        list(client.completions.create(model="gpt", prompt="x", max_tokens=10**7, stream=True))
