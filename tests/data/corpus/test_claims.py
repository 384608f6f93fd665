import os
import threading
import time

from regard.data.corpus import claims as module
from regard.data.corpus.claims import Claims


def test_only_one_of_many_holds_a_claim(tmp_path):
    holders, together = [], threading.Barrier(8)

    def take():
        together.wait()
        with Claims(tmp_path).taken("work") as claim:
            holders.append(claim is not None)
            together.wait()

    threads = [threading.Thread(target=take) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sum(holders) == 1 and list(tmp_path.iterdir()) == []


def test_a_claim_of_a_process_that_is_gone_is_taken_at_once_on_this_host(tmp_path):
    gone = os.fork()
    if gone == 0:
        Claims(tmp_path)._take("work")
        os._exit(0)
    os.waitpid(gone, 0)
    with Claims(tmp_path).taken("work") as claim:
        assert claim is not None and claim.number == 1 and claim.is_held
    assert list(tmp_path.iterdir()) == []


def test_a_claim_of_another_host_is_taken_once_nobody_touches_it(tmp_path):
    far = Claims(tmp_path)
    far.owner = "elsewhere pid:[1] 7 x"
    lost = far._take("work")
    near = Claims(tmp_path, stale=0.3)
    with near.taken("work") as early:
        assert early is None
    time.sleep(0.5)
    with near.taken("work") as claim:
        assert claim is not None and not lost.is_held
        lost.release()  # of one that came back too late: it leaves the other's alone
        assert claim.is_held
        with Claims(tmp_path).taken("work") as third:
            assert third is None


def test_a_holder_touches_its_claim(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BEAT", 0.02)
    with Claims(tmp_path).taken("work") as claim:
        before = claim.path.stat().st_mtime_ns
        time.sleep(0.3)
        assert claim.path.stat().st_mtime_ns > before
