"""Processes: signals drain, workers are replaced, slow and many clients harm nobody."""

import json
import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from regard.errors import RunError
from regard.server.process import listening_socket, url_of
from regard.server.settings import ServerSettings
from regard.server.supervisor import absolute
from server_process import serving

LONG = {"model": "gpt", "prompt": "Ann", "max_tokens": 400, "temperature": 0}
SHORT = LONG | {"max_tokens": 2}


def complete(url, body, **options):
    return httpx2.post(f"{url}/v1/completions", json=body, timeout=60, **options)


def children(process):
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    with open(path) as file:
        return [int(each) for each in file.read().split()]


def test_sigterm_finishes_what_is_in_flight_and_loses_nothing(models):
    with serving(models, names=("gpt",)) as (url, process):
        whole = complete(url, LONG).json()["choices"][0]["text"]
        with ThreadPoolExecutor(24) as pool:
            answers = [pool.submit(complete, url, LONG) for _ in range(24)]
            while int(metric(url, "regard_http_requests_in_flight")) < 25:
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            texts = [each.result().json()["choices"][0]["text"] for each in answers]
        assert texts == [whole] * 24
        assert process.wait(20) in (0, -signal.SIGTERM)
    with pytest.raises(httpx2.HTTPError):
        complete(url, SHORT)


def test_a_second_signal_ends_at_once(models):
    with serving(models, names=("gpt",)) as (url, process):
        thread = threading.Thread(target=lambda: pytest.raises(httpx2.HTTPError, complete, url, LONG | {"n": 60}))
        thread.start()
        while int(metric(url, "regard_http_requests_in_flight")) < 2:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) != 0
        thread.join()


def test_a_worker_that_is_killed_is_replaced_while_the_other_goes_on(models):
    with serving(models, "--workers", "2", names=("gpt",)) as (url, process):
        while len(children(process)) < 2:
            time.sleep(0.05)
        first, second = children(process)
        os.kill(first, signal.SIGKILL)
        answers = 0
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                answers += complete(url, SHORT).status_code == 200
            except httpx2.HTTPError:  # of the connection that the killed one had taken
                pass
            now = children(process)
            if len(now) == 2 and first not in now and answers > 10:
                break
        assert second in children(process) and answers > 10 and len(children(process)) == 2
        wait = [metric(url, "regard_requests_waiting{") for _ in range(4)]
        assert set(wait) == {0.0}
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_clients_that_send_slowly_or_leave_or_flood_harm_nobody(models):
    words = ["--header-timeout", "1", "--body-timeout", "1", "--max-connections", "60", "--max-waiting", "20"]
    with serving(models, *words, names=("gpt",)) as (url, process):
        host, port = url.removeprefix("http://").split(":")
        slow = [socket.create_connection((host, int(port))) for _ in range(20)]
        for each in slow[:10]:
            each.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        for each in slow[10:]:
            each.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
        assert complete(url, SHORT).status_code == 200
        for each in slow[:10]:
            each.settimeout(5)
            assert not _received(each)  # closed without a word
        for each in slow[10:]:
            each.settimeout(5)
            assert b" 408 " in _received(each)
        with ThreadPoolExecutor(40) as pool:
            flood = list(pool.map(lambda _: complete(url, LONG | {"n": 20}), range(40)))
            assert complete(url, SHORT).status_code in (200, 429)
        refused = [each for each in flood if each.status_code == 429]
        assert refused and all(int(each.headers["retry-after"]) >= 1 for each in refused)
        leaving = [socket.create_connection((host, int(port))) for _ in range(5)]
        body = json.dumps(LONG | {"max_tokens": 4000}).encode()
        for each in leaving:
            head = f"POST /v1/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            each.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        while metric(url, "regard_requests_running{") < 5:
            time.sleep(0.01)
        for each in leaving:
            each.close()
        end = time.monotonic() + 3
        while metric(url, "regard_requests_running{") and time.monotonic() < end:
            time.sleep(0.01)
        assert metric(url, "regard_requests_running{") == 0
        assert metric(url, "regard_request_cancelled_total{") >= 5


def _received(connection) -> bytes:
    try:
        return connection.recv(200)
    except ConnectionResetError:
        return b""


def metric(url, name) -> float:
    lines = httpx2.get(f"{url}/metrics").text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))


def test_a_port_that_is_taken_is_refused_in_a_sentence():
    listener = listening_socket(ServerSettings(port=0))
    with listener, pytest.raises(RunError, match="cannot listen there"):
        listening_socket(ServerSettings(port=int(url_of(listener).rsplit(":")[-1])))


def test_runs_are_named_from_any_folder(tmp_path):
    assert absolute(["hf:a", f"b={tmp_path}"]) == [f"hf:{os.getcwd()}/a", f"b={tmp_path}"]
