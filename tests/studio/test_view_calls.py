"""Every call has types, and the TypeScript of the pages is made of them."""

import pytest

import studio_types
from regard.studio.calls import CALLS
from regard.studio.messages import ModelRequest, StudioMessage


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_a_call_is_typed_by_its_function(call):
    assert issubclass(call.request, StudioMessage) and issubclass(call.response, StudioMessage)
    assert issubclass(call.request, ModelRequest) == (call.scope == "model")


def test_the_types_of_the_pages_are_those_of_the_server():
    way_out = "run python scripts/studio_types.py"
    assert studio_types.FILE.read_text(encoding="utf-8") == studio_types.typescript(), way_out
