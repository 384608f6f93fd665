"""Writes in the background: in order, one at a time, and never lost silently."""

import threading
import time

import pytest
import torch

from regard.checkpoint.background import BackgroundWriter, host_copies


def test_copies_do_not_change_with_their_originals():
    whole = torch.arange(6.0).reshape(2, 3)
    weight = torch.nn.Parameter(torch.ones(2))
    copies = host_copies({"transposed": whole.t(), "weight": weight, "step": torch.tensor(3.0)})
    expected = whole.t().clone()
    whole += 1
    assert copies["transposed"].equal(expected) and copies["transposed"].is_contiguous()
    assert not copies["weight"].requires_grad and copies["weight"].tolist() == [1.0, 1.0]
    assert copies["step"].item() == 3.0 and host_copies({}) == {}


def test_writes_run_one_at_a_time_in_the_order_given_while_the_caller_goes_on():
    writer, done, running, may_end = BackgroundWriter(), [], [], threading.Event()

    def write(number):
        assert may_end.wait(10)
        running.append(number)
        assert running == [number]
        time.sleep(0.02)
        done.append(number)
        running.clear()

    writer.start(lambda: write(1))
    assert not done  # the caller is here while the write is not over
    may_end.set()
    for number in (2, 3, 4):
        writer.start(lambda number=number: write(number))
    writer.wait()
    assert done == [1, 2, 3, 4]
    writer.wait()
    writer.check()


@pytest.mark.parametrize("ask", ["check", "wait", "start"])
def test_a_write_that_failed_raises_once_where_it_is_asked_for(ask):
    writer, ran = BackgroundWriter(), []

    def fail():
        raise OSError(28, "No space left on device")

    writer.start(fail)
    while (
        ask == "check"
        and threading.active_count() > 1
        and any(each.name == "checkpoint" for each in threading.enumerate())
    ):
        time.sleep(0.001)
    with pytest.raises(OSError, match="No space left on device"):
        writer.start(lambda: ran.append(1)) if ask == "start" else getattr(writer, ask)()
    writer.check()
    assert not ran  # what came after a failed write has not been written before the failure was known
