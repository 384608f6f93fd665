"""Our own routes: typed by rows and options of operations, the same as a call in Python."""

import json

import httpx2
import pytest

from regard.server.protocols.own import own_protocol
from regard.tasks.load import load

ROWS = {
    "de-en": ("translate/translate", {"source": "Ja."}, ("Ja.",)),
    "gpt": ("language-model/generate", {"prompt": "Ann"}, ("Ann",)),
    "classify": ("classify/classify", {"text": "good"}, ("good",)),
    "regress": ("regress/regress", {"text": "good"}, ("good",)),
    "tag": ("tag/tag", {"words": ["a", "house"]}, ({"words": ["a", "house"]},)),
    "answer": ("answer/answer", {"question": "who?", "context": "Ann is here."}, ("who?", "Ann is here.")),
    "choose": ("choose/choose", {"context": "a", "choices": ["b", "c"]}, ({"context": "a", "choices": ["b", "c"]},)),
    "bert": ("masked-language-model/embed", {"text": "good"}, ("good",)),
}


@pytest.mark.parametrize("name", ROWS)
def test_every_task_answers_as_a_call_in_python(url, models, name):
    place, row, inputs = ROWS[name]
    answer = httpx2.post(f"{url}/api/{place}", json={"model": name, "inputs": row})
    assert answer.status_code == 200, answer.text
    (result,) = answer.json()["results"]
    alone = load(models / name)(*inputs).to_dict()
    assert set(result) == set(alone)
    for key, value in alone.items():
        if isinstance(value, float):
            assert result[key] == pytest.approx(value, abs=1e-4)
        elif isinstance(value, str):
            assert result[key] == value


def test_a_model_need_not_be_named_where_there_is_one_of_its_task(url):
    body = {"inputs": [{"source": "Ja."}, {"source": "Nein."}], "options": {"beam_size": 2}}
    answer = httpx2.post(f"{url}/api/translate/translate", json=body).json()
    assert answer["model"] == "de-en" and [each["source"] for each in answer["results"]] == ["Ja.", "Nein."]


def test_any_text_encoder_embeds_and_compares(url):
    body = {"model": "classify", "inputs": {"text": "good"}}
    assert httpx2.post(f"{url}/api/masked-language-model/embed", json=body).status_code == 200
    body = {"model": "bert", "inputs": {"text": "good", "second": "good"}}
    (result,) = httpx2.post(f"{url}/api/masked-language-model/similar", json=body).json()["results"]
    assert result["similarity"] == pytest.approx(1, abs=1e-5)


def test_no_option_of_a_server_names_a_file_of_its_machine(url):
    schema = httpx2.get(f"{url}/openapi.json").json()["components"]["schemas"]
    assert set(schema["SimilarOptionsJson"]["properties"]) == {"pooling", "layer"}
    body = {"model": "bert", "inputs": {"text": "a", "second": "b"}, "options": {"against": "/etc/passwd"}}
    assert httpx2.post(f"{url}/api/masked-language-model/similar", json=body).status_code == 422


def test_a_text_streams_and_ends_with_its_result(url):
    body = {"model": "gpt", "inputs": {"prompt": "Ann"}, "options": {"max_new_tokens": 20}, "stream": True}
    with httpx2.stream("POST", f"{url}/api/language-model/generate", json=body) as answer:
        events = [line.removeprefix("data: ") for line in answer.iter_lines() if line]

    *parts, last = (json.loads(each) for each in events[:-1])
    assert events[-1] == "[DONE]" and "".join(each["text"] for each in parts) == last["result"]["text"]


def test_models_are_listed_with_what_they_can_be_asked(url):
    entries = {each["name"]: each for each in httpx2.get(f"{url}/api/models").json()["models"]}
    assert entries["de-en"]["languages"] == ["de", "en"] and "score" in entries["gpt"]["operations"]
    assert entries["bert"]["task"] == "masked-language-model"


@pytest.mark.parametrize(
    ("place", "body", "sentence"),
    [
        ("translate/translate", {"inputs": {}}, "source: field required"),
        ("translate/translate", {"inputs": {"source": "x"}, "options": {"beam_size": 4, "n_best": 9}}, "raise that"),
        ("translate/translate", {"inputs": {"source": "x"}, "options": {"beam_size": "4"}}, "beam_size"),
        ("translate/translate", {"inputs": {"source": "wort " * 2000}}, "split it"),
        ("translate/translate", {"inputs": {"source": "x"}, "model": "gpt"}, "language model"),
        ("language-model/generate", {"inputs": {"prompt": "x"}, "options": {"max_new_tokens": 5000}}, "this server"),
    ],
)
def test_a_wrong_row_or_option_is_told_in_a_sentence(url, place, body, sentence):
    answer = httpx2.post(f"{url}/api/{place}", json=body)
    assert answer.status_code in (400, 422) and sentence in answer.json()["error"]["message"], answer.text


def test_there_is_a_route_for_every_operation_of_every_task():
    from regard import registry

    paths = {each.path for each in own_protocol(8, 100).router.routes}
    wanted = {f"/api/{task.name}/{each.name.split()[-1]}" for task in registry.TASKS for each in task.operations}
    assert paths == wanted | {"/api/models"}
