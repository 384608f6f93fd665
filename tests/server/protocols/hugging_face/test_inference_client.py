"""`huggingface_hub.InferenceClient`, unmodified, with URLs of a server process as its models."""

import httpx2
import numpy as np
import pytest
from huggingface_hub import InferenceClient
from huggingface_hub.errors import HfHubHTTPError

from regard.tasks.load import load


@pytest.fixture(scope="module")
def client(url):
    clients = {}

    def of(name):
        return clients.setdefault(name, InferenceClient(model=f"{url}/models/{name}", token="none"))

    return of


def test_translation(client, models):
    assert client("de-en").translation("Ja.").translation_text == load(models / "de-en")("Ja.").text
    assert client("de-en").translation("Ja.", src_lang="de", tgt_lang="en")
    with pytest.raises(HfHubHTTPError, match="src_lang"):
        client("de-en").translation("Ja.", src_lang="fr", tgt_lang="en")


def test_text_generation_whole_and_streamed(client, models):
    generator, gpt = load(models / "gpt"), client("gpt")
    alone = generator("Ann went", max_new_tokens=8, seed=2)
    assert gpt.text_generation("Ann went", max_new_tokens=8, seed=2) == alone.text
    assert gpt.text_generation("Ann went", max_new_tokens=8, seed=2, return_full_text=True) == "Ann went" + alone.text
    details = gpt.text_generation("Ann went", max_new_tokens=8, seed=2, details=True).details
    assert [each.id for each in details.tokens] == list(alone.ids) and details.finish_reason == "length"
    assert [each.logprob for each in details.tokens] == pytest.approx(alone.log_probabilities, abs=1e-4)
    assert "".join(gpt.text_generation("Ann went", max_new_tokens=8, seed=2, stream=True)) == alone.text
    *_, last = gpt.text_generation("Ann went", max_new_tokens=8, seed=2, stream=True, details=True)
    assert last.generated_text == alone.text and last.details.generated_tokens == 8


def test_greedy_generation_and_unused_parameters(client, models):
    greedy = load(models / "gpt")("Ann", max_new_tokens=5, temperature=0).text
    assert client("gpt").text_generation("Ann", max_new_tokens=5, do_sample=False, temperature=0.5) == greedy


def test_fill_mask(client, models):
    text = "a [MASK] film"
    answer = client("bert").fill_mask(text, top_k=3)
    alone = load(models / "bert").fill(text, top=3).masks[0]
    assert [each.token for each in answer] == [each.id for each in alone]
    assert [each.score for each in answer] == pytest.approx([each.probability for each in alone], abs=1e-5)
    assert "[MASK]" not in answer[0].sequence


def test_text_and_token_classification(client, models):
    answer = client("classify").text_classification("a good film")
    alone = load(models / "classify")("a good film").probabilities
    assert {each.label: pytest.approx(each.score, abs=1e-5) for each in answer} == alone
    assert len(client("classify").text_classification("a good film", top_k=1)) == 1
    text = "a good film with a bad end"
    tagged = load(models / "tag")(text)
    words = client("tag").token_classification(text, aggregation_strategy="none", ignore_labels=[])
    assert [each.entity for each in words] == list(tagged.tags)
    assert all(text[each.start : each.end] == each.word for each in words)
    spans = client("tag").token_classification(text)
    assert [each.entity_group for each in spans] == [each.kind for each in tagged.spans]


def test_question_answering(client, models):
    question, context = "what is it?", "it is a good film about a house."
    answer = client("answer").question_answering(question=question, context=context)
    alone = load(models / "answer")(question, context).best
    assert (answer.answer, answer.start, answer.end) == (alone.text, alone.begin, alone.end)


def test_feature_extraction_and_similarity(client, models):
    encoder, bert = load(models / "bert"), client("bert")
    assert np.allclose(bert.feature_extraction("a good film"), [encoder.embed("a good film")], atol=1e-5)
    normal = np.asarray(bert.feature_extraction("a good film", normalize=True))
    assert np.allclose(np.linalg.norm(normal), 1, atol=1e-5)
    similar = bert.sentence_similarity("a good film", ["a bad film", "a house"])
    assert similar == pytest.approx(encoder.similar(["a good film"], ["a bad film", "a house"])[0].tolist(), abs=1e-5)


def test_a_pipeline_may_be_named(url):
    for place in ("models/classify/pipeline/feature-extraction", "pipeline/feature-extraction/classify"):
        assert np.shape(httpx2.post(f"{url}/{place}", json={"inputs": ["one", "two"]}).json()) == (2, 16)


def test_a_chat_without_a_template_is_refused(client):
    with pytest.raises(HfHubHTTPError, match="no chat template"):
        client("gpt").chat_completion([{"role": "user", "content": "Hello!"}])


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("nix", {"inputs": "x"}, 404),
        ("regress", {"inputs": {"question": "x", "context": "y"}}, 400),
        ("classify", {"inputs": ""}, 400),
        ("classify", {}, 400),
        ("classify", {"inputs": "x", "parameters": {"colour": 1}}, 400),
        ("gpt", {"inputs": "x", "parameters": {"temperature": "hot"}}, 400),
        ("gpt", {"inputs": "x", "parameters": {"typical_p": 0.5}}, 400),
        ("answer", {"inputs": {"question": "x"}}, 400),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(url, name, body, status):
    answer = httpx2.post(f"{url}/models/{name}", json=body)
    assert answer.status_code == status and isinstance(answer.json()["error"], str), answer.text
