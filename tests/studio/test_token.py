import httpx2
import pytest
from starlette.responses import PlainTextResponse

from regard.studio.token import TokenGate, new_token

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


def client_of(token):
    transport = httpx2.ASGITransport(TokenGate(PlainTextResponse("inside"), token))
    return httpx2.AsyncClient(transport=transport, base_url="http://studio")


async def test_the_link_sets_a_cookie_that_lets_in():
    token = new_token()
    async with client_of(token) as client:
        assert (await client.get("/")).status_code == 401
        assert (await client.get("/?token=wrong")).status_code == 401
        assert (await client.post(f"/?token={token}")).status_code == 401
        answer = await client.get(f"/?token={token}")
        cookie = answer.headers["set-cookie"].lower()
        assert answer.status_code == 303 and "httponly" in cookie and "samesite=strict" in cookie
        assert token not in answer.headers["location"]
        assert (await client.get("/")).text == "inside"


async def test_a_bearer_lets_in_and_a_broken_cookie_does_not():
    async with client_of("secret-secret") as client:
        assert (await client.get("/", headers={"authorization": "Bearer secret-secret"})).text == "inside"
        assert (await client.get("/", headers={"cookie": "a=;;;\x7f[]"})).status_code == 401


def test_tokens_differ():
    assert new_token() != new_token() and len(new_token()) >= 32
