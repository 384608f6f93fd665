"""Faults: a status and a sentence for every exception, and JSON that no value breaks."""

import json

import pytest
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from regard.errors import DataError
from regard.server.errors import Overloaded, UnknownModel
from regard.server.faults import Fault, fault_response, json_bytes, own_shape


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (UnknownModel("No such model.", "model"), 404, "No such model."),
        (DataError("Row 3 is empty."), 422, "Row 3 is empty."),
        (HTTPException(404), 404, "nothing at this path"),
        (HTTPException(405, headers={"Allow": "POST"}), 405, "another method"),
        (ValueError("secret of the inside"), 500, "its log has the reason"),
        (
            RequestValidationError(
                [{"type": "missing", "loc": ("body", "inputs", "SourceRowJson", "source"), "msg": "X"}]
            ),
            422,
            "inputs.source: x.",
        ),
    ],
)
def test_every_exception_has_a_status_and_a_sentence(error, status, words):
    fault = Fault.of(error)
    assert fault.status == status and words in fault.message and "secret" not in fault.message


def test_headers_tell_when_to_come_back_and_which_methods_there_are():
    answer = fault_response(Fault.of(Overloaded("Full.", retry_after=7)), own_shape)
    assert answer.status_code == 429 and answer.headers["retry-after"] == "7"
    assert json.loads(answer.body) == {
        "error": {"code": "rate_limit_exceeded", "message": "Full.", "parameter": None}
    }
    assert Fault.of(HTTPException(405, headers={"Allow": "POST"})).headers == {"allow": "POST"}


def test_no_value_breaks_json():
    assert json.loads(json_bytes({"a": float("nan"), "b": [float("inf"), 1.5], "c": "\ud800"})) == {
        "a": None,
        "b": [None, 1.5],
        "c": "\ud800",
    }
    assert json_bytes("é") == '"é"'.encode()
