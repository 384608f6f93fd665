"""Faults of requests, as clients receive them: a status and a sentence, in the shape of a protocol."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from regard.errors import RegardError, on_one_line
from regard.server.errors import Loose, RequestError

MEMBER = re.compile(r"^(\w+Json|str|int|float|bool|dict)$|\[")
"""Parts of a location that are members of a union."""
PHRASES = {404: "There is nothing at this path; /docs lists all there is.", 405: "This path takes another method."}


@dataclass(frozen=True)
class Fault:
    """Why a request failed."""

    status: int
    message: str
    code: str = "invalid_request"
    parameter: str | None = None
    retry_after: int | None = None
    allow: str | None = None
    """The methods that a path takes."""

    @classmethod
    def of(cls, error: Exception) -> "Fault":
        """Return the fault of an exception; an unexpected one is a 500 without details."""
        if isinstance(error, RequestError):
            return cls(error.status, str(error), error.code, error.parameter, error.retry_after)
        if isinstance(error, RegardError):  # of options or of a row: the sentence says which
            return cls(422, str(error))
        if isinstance(error, RequestValidationError):
            return cls(422, *_first(error.errors()))
        if isinstance(error, HTTPException):
            message, allow = PHRASES.get(error.status_code, str(error.detail)), dict(error.headers or {}).get("Allow")
            return cls(error.status_code, message, _code(error.status_code), allow=allow)
        return cls(500, "The server failed on this request; its log has the reason.", "internal_error")

    @property
    def headers(self) -> dict[str, str]:
        """The headers that clients' retries go by."""
        headers = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
        if self.allow is not None:
            headers["allow"] = self.allow
        if self.status == 401:
            headers["www-authenticate"] = "Bearer"
        return headers


Shape = Callable[[Fault], tuple[int, Mapping[str, object]]]
"""A function of a fault that returns the status and the body of a protocol."""


def own_shape(fault: Fault) -> tuple[int, Mapping[str, object]]:
    """Return the shape of faults of our own routes."""
    body = {"code": fault.code, "message": fault.message, "parameter": fault.parameter}
    return fault.status, {"error": body}


def fault_response(fault: Fault, shape: Shape) -> Response:
    """Return the response of a fault."""
    status, body = shape(fault)
    return JsonResponse(body, status, fault.headers)


class JsonResponse(JSONResponse):
    """JSON of any value: numbers that are none become null, and text that is no UTF-8 is escaped."""

    def render(self, content: object) -> bytes:
        """Return the bytes of a value."""
        return json_bytes(content)


def json_bytes(content: object) -> bytes:
    """Return a value as JSON."""
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        return json.dumps(_finite(content), separators=(",", ":")).encode()


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


def _code(status: int) -> str:
    return {404: "not_found", 405: "method_not_allowed"}.get(status, "invalid_request")


def _first(errors: Sequence[Loose]) -> tuple[str, str, str | None]:
    """Return the first error of a body in one sentence, its code, and the name of the parameter."""
    detail = errors[0]
    place = [str(part) for part in detail["loc"][1:] if not MEMBER.search(str(part))]
    if detail["type"] == "json_invalid":
        return f"The body is not JSON ({detail['ctx']['error']}); send an object.", "invalid_json", None
    name = ".".join(place)
    if detail["type"] == "extra_forbidden":
        return f"Unrecognized request argument supplied: {on_one_line(name)}.", "unknown_parameter", name
    reason = str(detail["msg"]).removeprefix("Value error, ").rstrip(".")
    return on_one_line(f"{name or 'The body'}: {reason[:1].lower()}{reason[1:]}."), "invalid_request", name or None
