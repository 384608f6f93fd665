"""Server-sent events: what fails before the first has a status, what fails later is an event."""

import asyncio

import pytest

from regard.errors import DataError
from regard.server.faults import own_shape
from regard.server.protocols.base import data, event_stream, faults


def test_a_failure_before_the_first_event_is_raised_and_a_later_one_sent():
    async def failing(after):
        for number in range(after):
            yield data({"n": number})
        raise DataError("No more.")

    async def check():
        with pytest.raises(DataError):
            await event_stream(failing(0), own_shape)
        response = await event_stream(failing(2), own_shape)
        return [each async for each in response.body_iterator]

    first, second, last = asyncio.run(check())
    assert (first, second) == (b'data: {"n":0}\n\n', b'data: {"n":1}\n\n') and b"No more." in last


def test_every_status_is_documented_but_those_left_out():
    assert 422 in faults({}) and 422 not in faults({}, 422) and 429 in faults({}, 422)
