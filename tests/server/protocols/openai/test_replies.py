"""Bodies and replies of OpenAI's API that need no server: what is refused, chats by a template, shapes of errors."""

import asyncio

import pytest
from pydantic import ValidationError

from regard.server.errors import RequestError
from regard.server.faults import Fault
from regard.server.protocols.openai.bodies import ChatBody, CompletionBody
from regard.server.protocols.openai.choices import Prompt
from regard.server.protocols.openai.completions import chat_prompt
from regard.server.protocols.openai.routes import openai_shape
from regard.tasks.load import load
from regard.text.chat_template import ROLES_TEMPLATE
from served_models import client_of


def test_prompts_are_texts_or_ids_or_lists_of_them():
    of = lambda prompt: CompletionBody(model="m", prompt=prompt).prompts
    assert (
        of("a") == ["a"] and of(["a", "b"]) == ["a", "b"] and of([1, 2]) == [[1, 2]] and of([[1], "b"]) == [[1], "b"]
    )
    for wrong in ([], [[]], 3, [True]):
        with pytest.raises(ValidationError):
            of(wrong)


def test_options_are_those_of_sampling():
    body = CompletionBody(model="m", temperature=0, top_p=0.5, stop="x")
    assert body.options(7) == {
        "method": "sample",
        "num_samples": 1,
        "temperature": 0,
        "stop": ["x"],
        "max_new_tokens": 7,
    }


def test_what_has_no_effect_here_is_refused():
    message = [{"role": "user", "content": "x"}]
    for more in ({"tools": [{}]}, {"response_format": {"type": "json_object"}}, {"top_logprobs": 2}):
        with pytest.raises(RequestError):
            ChatBody(model="m", messages=message, **more).check()
    ChatBody(model="m", messages=message, response_format={"type": "text"}).check()


def test_token_ids_beyond_the_vocabulary_are_refused(generator):
    tokenizer = load(generator).tokenizer
    with pytest.raises(RequestError, match="is no token"):
        Prompt.of([1, tokenizer.size], tokenizer, "prompt")
    assert Prompt.of([5, 6], tokenizer, "prompt").ids == (5, 6)


def test_a_chat_is_a_completion_of_the_prompt_that_the_template_makes(generator):
    async def ask():
        async with client_of([f"gpt={generator}"]) as client:
            model = await client.app.state.server.store.model("gpt")
            model.pipeline.bundle.facts["chat_template"] = ROLES_TEMPLATE
            body = {"model": "gpt", "messages": messages, "max_tokens": 6, "seed": 3}
            whole = await client.post("/v1/chat/completions", json=body | {"logprobs": True, "top_logprobs": 1})
            stream = await client.post("/v1/chat/completions", json=body | {"stream": True})
            return whole.json(), stream.text

    messages = [{"role": "user", "content": "Ann"}]
    whole, stream = asyncio.run(ask())
    (choice,) = whole["choices"]
    pipeline = load(generator)
    pipeline.bundle.facts["chat_template"] = ROLES_TEMPLATE
    alone = pipeline.chat(messages, max_new_tokens=6, seed=3)
    assert choice["message"]["content"] == alone.text and whole["object"] == "chat.completion"
    assert len(choice["logprobs"]["content"]) == 6 == whole["usage"]["completion_tokens"]
    assert '"role":"assistant"' in stream and stream.endswith("data: [DONE]\n\n")


def test_errors_have_openai_s_shape():
    status, body = openai_shape(Fault(422, "No.", parameter="n"))
    assert status == 400
    assert body == {"error": {"message": "No.", "type": "invalid_request_error", "param": "n", "code": None}}
    assert openai_shape(Fault(429, "Full."))[1]["error"]["type"] == "rate_limit_error"
    with pytest.raises(RequestError, match="no chat template"):
        chat_prompt(object(), [])
