import signal
import threading

import pytest

from regard.training.interrupt import catching_interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_a_request_and_the_second_stops(number):
    before = signal.getsignal(number)
    with catching_interrupts() as received:
        assert not received
        signal.raise_signal(number)
        assert received == [number]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(number) is before


def test_handlers_come_back_after_an_error():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="inside"), catching_interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
        raise ValueError("inside")
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_is_never_interrupted():
    answers = []

    def work():
        with catching_interrupts() as received:
            answers.append(received)

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert answers == [[]] and signal.getsignal(signal.SIGINT) is before
