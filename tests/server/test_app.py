"""The application: health, readiness, and what stands before every route."""

import asyncio

import pytest

from regard.server.settings import ServerSettings
from served_models import client_of


def test_the_server_is_ready_once_its_models_are_loaded(translator):
    async def check():
        async with client_of([f"de-en={translator}"]) as client:
            assert (await client.get("/health")).json()["status"] == "ok"
            while (answer := await client.get("/ready")).status_code == 503:
                await asyncio.sleep(0.01)
            assert answer.json() == {"status": "ready"}
            assert "regard_http_responses_total" in (await client.get("/metrics")).text

    asyncio.run(check())


def test_a_function_runs_in_the_thread_of_its_model(translator):
    async def check():
        async with client_of([f"de-en={translator}"]) as client:
            served = await client.app.state.server.store.model("de-en")
            assert served.task.name == "translate" and served.name == "de-en"
            return await served.run(lambda text: served.pipeline(text).source, "Ja.")

    assert asyncio.run(check()) == "Ja."


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:8000"}, 200),
        ({"host": "localhost:8000"}, 200),
        ({"x-timeout-seconds": "soon"}, 400),
        ({"x-timeout-seconds": "0"}, 400),
    ],
)
def test_only_pages_and_names_of_this_machine_reach_it(headers, status):
    async def check():
        async with client_of([]) as client:
            answer = await client.get("/health", headers=headers)
            assert answer.status_code == status, answer.text
            assert status == 200 or answer.json()["error"]["message"]
            return answer.headers["x-request-id"]

    assert len(asyncio.run(check())) == 32


def test_a_body_beyond_the_limit_is_refused():
    async def check():
        async with client_of([], settings=ServerSettings(max_body=1000)) as client:
            return await client.post("/nowhere", content=b"x" * 1001)

    assert asyncio.run(check()).status_code == 413


def test_the_description_offers_the_served_models_where_a_body_names_one(generator):
    async def check():
        async with client_of([f"gpt={generator}"]) as client:
            return (await client.get("/openapi.json")).json()["components"]["schemas"]

    schemas = asyncio.run(check())
    assert schemas["CompletionBody"]["properties"]["model"]["enum"] == ["gpt"]
    unused = schemas["InferenceBody"]["properties"]["model"]  # of these routes, the URL names the model
    assert "enum" not in str(unused) and "x-any-name" not in unused
