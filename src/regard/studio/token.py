"""The token of a studio that others can reach: in the link that is printed, then in a cookie."""

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

COOKIE = "regard_studio"


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(24)


class TokenGate:
    """Lets requests pass that have the token: in a cookie, a bearer header, or the link that sets the cookie."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan" or self._has_token(scope):
            await self.app(scope, receive, send)
            return
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/" and self._is_right(given):
            response = RedirectResponse("/", 303)
            response.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            await response(scope, receive, send)
            return
        refusal = "This studio asks for a token; open the link that `regard studio` has printed."
        await PlainTextResponse(refusal, 401)(scope, receive, send)

    def _has_token(self, scope: Scope) -> bool:
        headers = {name: value.decode("latin-1") for name, value in scope.get("headers", [])}
        bearer = headers.get(b"authorization", "").partition(" ")[2].strip()
        try:
            cookie = SimpleCookie(headers.get(b"cookie", "")).get(COOKIE)
        except CookieError:
            cookie = None
        return self._is_right(bearer) or (cookie is not None and self._is_right(cookie.value))

    def _is_right(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())
