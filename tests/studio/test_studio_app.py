"""The application over HTTP: calls, streams, refusals, pages."""

import asyncio
import json
import time
from contextlib import asynccontextmanager

import httpx2
import pytest

from regard.cancellation import Cancelled, end_if_cancelled
from regard.errors import RunError
from regard.studio.app import POLICY, create_studio
from regard.studio.settings import StudioSettings


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>studio</title>")
    (folder / "assets" / "index-abc.js").write_text("1")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


@asynccontextmanager
async def client_of(app):
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8010", timeout=60) as client,
    ):
        yield client


def asked(studio_runs, pages, questions):
    """Return the answers of the studio to (path, body) or to a path."""

    async def ask():
        app = create_studio(StudioSettings(runs=studio_runs, device="cpu"), pages=pages)
        async with client_of(app) as client:
            return [
                await (client.get(each) if isinstance(each, str) else client.post(f"/studio/{each[0]}", json=each[1]))
                for each in questions
            ]

    return asyncio.run(ask())


def test_calls_of_all_scopes_answer(studio_runs, pages):
    runs, fields, example = asked(
        studio_runs, pages, [("runs", {}), ("fields", {"model": "classify"}), ("scaled-example", {})]
    )
    assert {each["name"] for each in runs.json()["runs"]} >= {"translator", "classify", "broken"}
    assert fields.json()["fields"] == ["text"]
    assert [round(each, 2) for each in example.json()["weights"]] == [0.88, 0.12]


@pytest.mark.parametrize(
    ("question", "status", "words"),
    [
        (("fields", {"model": "../../etc"}), 404, 'There is no run "../../etc" with a checkpoint'),
        (("fields", {"model": "broken"}), 404, "with a checkpoint"),
        (("fields", {"model": "vectors"}), 422, "neither masks nor a head"),
        (("fields", {}), 422, "model: field required"),
        (("fields", {"model": "classify", "x": 1}), 422, "supplied: x"),
        (("run", {"run": "broken"}), 422, "run.json"),
        (("nothing", {}), 404, "nothing at this path"),
        (("generate", {"model": "vectors", "text": "x"}), 422, "generates no text"),
        (("fill", {"model": "masked-language-model", "text": "x" * 20_001}), 422, "more than 20,000; shorten it"),
        (
            ("tree", {"model": "language-model", "text": "x", "options": {"max_new_tokens": 10**6}}),
            422,
            "max_new_tokens",
        ),
        (("fill", {"model": "masked-language-model", "text": "[MASK]" * 400_000}), 413, "larger than"),
    ],
)
def test_mistakes_are_one_sentence_with_a_status(studio_runs, pages, question, status, words):
    (answer,) = asked(studio_runs, pages, [question])
    assert answer.status_code == status and words in answer.json()["error"]["message"]


def test_text_arrives_token_by_token(studio_runs, pages):
    options = {"max_new_tokens": 4, "seed": 2}
    (answer,) = asked(
        studio_runs, pages, [("generate", {"model": "language-model", "text": "Anna", "options": options})]
    )
    events = [json.loads(line) for line in answer.text.splitlines()]
    assert 1 <= len(events) <= 4 and events[-1]["is_last"] and not any(each["is_last"] for each in events[:-1])


def test_a_long_call_ends_when_the_browser_leaves(studio_runs, pages):
    """The thread of the model is free again at once: the next call does not wait for the long one."""
    ended = []

    def long():
        try:
            for _ in range(2000):
                end_if_cancelled()
                time.sleep(0.01)
        except Cancelled:
            ended.append(True)
            raise

    async def ask():
        app = create_studio(StudioSettings(runs=studio_runs, device="cpu"), pages=pages)
        async with client_of(app) as client:
            await client.post("/studio/fields", json={"model": "classify"})
            task = asyncio.create_task(app.state.server.store.loaded["classify"].run(long))
            await asyncio.sleep(0.2)
            task.cancel()
            return await client.post("/studio/fields", json={"model": "classify"})

    assert asyncio.run(ask()).status_code == 200 and ended == [True]


def test_pages_are_served_with_a_policy_and_nothing_else_is(studio_runs, pages):
    index, script, missing, outside = asked(
        studio_runs, pages, ["/", "/assets/index-abc.js", "/none.js", "/..%2Fsecret.txt"]
    )
    assert "studio" in index.text and index.headers["content-security-policy"] == POLICY
    assert index.headers["cache-control"] == "no-cache" and "immutable" in script.headers["cache-control"]
    assert missing.status_code == outside.status_code == 404 and "secret" not in outside.text


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"origin": "http://evil.example"}, {"origin": "null"}])
def test_other_sites_are_refused(studio_runs, pages, headers):
    async def ask():
        app = create_studio(StudioSettings(runs=studio_runs, device="cpu"), pages=pages)
        async with client_of(app) as client:
            return await client.post("/studio/runs", json={}, headers=headers)

    assert asyncio.run(ask()).status_code == 403


def test_pages_that_are_not_built_are_told(studio_runs, tmp_path):
    with pytest.raises(RunError, match="the pages of the studio are not built; run make studio"):
        create_studio(StudioSettings(runs=studio_runs), pages=tmp_path / "none")
