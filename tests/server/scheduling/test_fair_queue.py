"""The fair queue and batches: order, room, and rows of one length."""

import asyncio

from regard.pipelines.inputs import SingleText
from regard.server.scheduling.batches import RowBatch
from regard.server.scheduling.fair_queue import FairQueue
from regard.server.scheduling.live_session import LiveSession, tokens_of
from regard.server.scheduling.scheduler import Scheduler
from regard.server.scheduling.units import PipelineCall, RowUnit, characters
from regard.server.settings import ServerSettings
from served_models import asker


def units(*names, size=10, priority=0):
    call = PipelineCall(None, None, "embed")
    return [RowUnit(call, SingleText("x" * size), "", asker(name, priority)) for name in names]


def order(queue, fits=lambda unit: True):
    taken = []
    while (unit := queue.pop(fits)) is not None:
        taken.append(unit.client)
    return "".join(taken)


def in_loop(function):
    async def run():
        return function()

    return asyncio.run(run())


def test_clients_alternate_however_much_each_sends():
    def check():
        queue = FairQueue()
        for unit in units(*"aaaa", *"bb", "c"):
            queue.add(unit)
        assert len(queue) == 7
        return order(queue)

    assert in_loop(check) == "abcabaa"


def test_higher_priorities_and_what_was_taken_back_go_first():
    def check():
        queue = FairQueue()
        (first,), (urgent,), (back,) = units("a"), units("u", priority=2), units("r")
        for unit in (first, urgent):
            queue.add(unit)
        queue.restore(back)
        return order(queue)

    assert in_loop(check) == "ura"


def test_a_group_without_room_lets_others_pass_and_cancelled_units_are_taken_out():
    def check():
        queue = FairQueue()
        (long,), (short,), (gone,) = units("l", size=5000), units("s"), units("g", size=5000)
        for unit in (long, gone, short):
            queue.add(unit)
        assert order(queue, lambda unit: unit is not long) == "s"
        gone.is_cancelled = True
        assert len(queue) == 2
        return order(queue)

    assert in_loop(check) == "lg"


def test_a_batch_takes_rows_of_one_length_up_to_its_limits():
    def check():
        batch, (first, *others) = RowBatch(ServerSettings(max_running=3)), units(*"abcd")
        (longer,) = units("l", size=500)
        assert batch.has_room(longer)
        batch.add(first)
        assert not batch.has_room(longer) and batch.has_room(others[0])
        batch.add(others[0])
        batch.add(others[1])
        return batch.has_room(others[2])

    assert in_loop(check) is False
    assert characters(SingleText("abc")) == 3 and characters(["ab", ("c", 4)]) == 3
    assert all(map(callable, (LiveSession, tokens_of, Scheduler)))
