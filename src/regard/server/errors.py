"""Errors of requests: a status, a sentence, and what a client's retries go by; each protocol gives them its shape."""

from typing import Any

from regard.errors import RegardError

Loose = Any
"""A value, or a type, that is only known at run time."""


class RequestError(RegardError):
    """A request that is not answered; the sentence has the reason."""

    status = 400
    code = "invalid_request"

    def __init__(self, sentence: str, parameter: str | None = None, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.parameter, self.retry_after = parameter, retry_after


class UnknownModel(RequestError):
    """No model of that name is served."""

    status, code = 404, "model_not_found"


class WrongKey(RequestError):
    """The API key is missing or unknown."""

    status, code = 401, "invalid_api_key"


class Forbidden(RequestError):
    """A host, an origin or a path that is not allowed."""

    status, code = 403, "forbidden"


class TooLarge(RequestError):
    """A body beyond the limit."""

    status, code = 413, "request_too_large"


class RequestTimeout(RequestError):
    """A body that was sent too slowly."""

    status, code = 408, "request_timeout"


class Overloaded(RequestError):
    """The queue is full, or the limits of a key are reached: to be sent again later."""

    status, code = 429, "rate_limit_exceeded"


class DeadlineExceeded(RequestError):
    """No answer within the time that a request may take."""

    status, code = 504, "timeout"


class Unavailable(RequestError):
    """A model that cannot be loaded or has failed, or a server that is stopping."""

    status, code = 503, "unavailable"
