import pytest

from regard.cancellation import Cancelled, cancellable, end_if_cancelled


def test_work_goes_on_until_nobody_waits_for_it():
    answers, done = iter([False, False, True]), []
    with pytest.raises(Cancelled), cancellable(lambda: next(answers)):
        for step in range(9):
            end_if_cancelled()
            done.append(step)
    assert done == [0, 1]
    end_if_cancelled()  # outside of the block nothing is cancelled
