"""Processes: signals drain, workers are replaced, slow and many clients harm nobody."""

import json
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from regard.errors import RunError
from regard.server.process import listening_socket, url_of
from regard.server.settings import ServerSettings
from regard.server.supervisor import absolute
from server_process import serving

LONG = {"model": "gpt", "prompt": "Ann", "max_tokens": 500, "temperature": 0}
SHORT = LONG | {"max_tokens": 2}
ENDLESS = LONG | {"max_tokens": 4000}


def complete(url, body):
    return httpx2.post(f"{url}/v1/completions", json=body, timeout=60)


def children(process):
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    return [int(each) for each in Path(path).read_text().split()]


def sent(url, body):
    """A connection on which a request was sent whose answer nobody reads."""
    host, port = url.removeprefix("http://").split(":")
    connection, content = socket.create_connection((host, int(port))), json.dumps(body).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    connection.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
    return connection


def until(condition, seconds=20.0):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.01)


def test_slow_leaving_and_flooding_clients_harm_nobody_and_sigterm_loses_no_request(models):
    words = ["--header-timeout", "1", "--body-timeout", "1", "--max-connections", "60", "--max-waiting", "200"]
    with serving(models, *words, names=("gpt",)) as (url, process):
        host, port = url.removeprefix("http://").split(":")
        slow = [socket.create_connection((host, int(port))) for _ in range(20)]
        for each in slow[:10]:
            each.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        for each in slow[10:]:
            each.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
        assert complete(url, SHORT).status_code == 200
        received = [_received(each) for each in slow]
        assert received[:10] == [b""] * 10  # closed without a word
        assert all(b" 408 " in each for each in received[10:])
        for each in slow:
            each.close()

        leaving = [sent(url, ENDLESS) for _ in range(5)]
        until(lambda: metric(url, "regard_requests_running{") >= 5)
        for each in leaving:
            each.close()
        until(lambda: metric(url, "regard_requests_running{") == 0, 3)
        assert metric(url, "regard_request_cancelled_total{") >= 5

        crowd = [sent(url, ENDLESS | {"n": 60}) for _ in range(2)]
        until(lambda: metric(url, "regard_requests_waiting{") >= 90)
        refused = complete(url, ENDLESS | {"n": 60})
        assert refused.status_code == 429 and int(refused.headers["retry-after"]) >= 1
        assert refused.json()["error"]["type"] == "rate_limit_error"
        for each in crowd:
            each.close()
        until(lambda: metric(url, "regard_requests_running{") == 0, 3)

        whole = complete(url, LONG).json()["choices"][0]["text"]
        with ThreadPoolExecutor(24) as pool:
            answers = [pool.submit(complete, url, LONG) for _ in range(24)]
            until(lambda: metric(url, "regard_http_requests_in_flight") >= 20)
            process.send_signal(signal.SIGTERM)
            texts = [each.result().json()["choices"][0]["text"] for each in answers]
        assert texts == [whole] * 24 and process.wait(20) in (0, -signal.SIGTERM)


def test_a_worker_that_is_killed_is_replaced_and_a_second_signal_ends_all(models):
    with serving(models, "--workers", "2", names=("gpt",)) as (url, process):
        until(lambda: len(children(process)) == 2)
        first, second = children(process)
        os.kill(first, signal.SIGKILL)
        answers = 0

        def goes_on():
            nonlocal answers
            with suppress(httpx2.HTTPError):  # of a connection that the killed one had taken
                answers += complete(url, SHORT).status_code == 200
            now = children(process)
            return len(now) == 2 and first not in now and answers > 10

        until(goes_on, 60)
        assert second in children(process)
        endless = sent(url, ENDLESS | {"n": 8})
        until(lambda: metric(url, "regard_requests_running{") >= 8)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert process.poll() is None  # the request in flight
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) != 0
        endless.close()


def _received(connection) -> bytes:
    connection.settimeout(10)
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
    assert absolute(["hf:a", f"b={tmp_path}"]) == [f"hf:{Path.cwd()}/a", f"b={tmp_path}"]
