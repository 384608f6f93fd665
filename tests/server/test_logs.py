"""Logs and metrics: a line for each request, and the text that Prometheus reads."""

import json
import logging

from regard.server.logs import JsonLog, TextLog, log_to_stderr
from regard.server.metrics import Metrics

FACTS = {
    "client": "127.0.0.1",
    "method": "GET",
    "path": "/a\nb",
    "status": 200,
    "milliseconds": 1.5,
    "request_id": "abc",
}


def record(message="request", **more):
    made = logging.LogRecord("regard.server", logging.INFO, "", 0, message, (), None)
    made.__dict__.update(more)
    return made


def test_a_request_is_one_line_whatever_its_path_holds():
    text = TextLog().format(record(facts=FACTS))
    assert text.count("\n") == 0 and "GET" in text and "1.5 ms" in text
    values = json.loads(JsonLog().format(record(facts=FACTS)))
    assert values["path"] == "/a\nb" and values["level"] == "info" and values["event"] == "request"


def test_a_trace_follows_its_line():
    try:
        raise ValueError("x")
    except ValueError as error:
        info = (type(error), error, error.__traceback__)
    assert "ValueError: x" in TextLog().format(record("failed", exc_info=info))
    assert "ValueError: x" in json.loads(JsonLog().format(record("failed", exc_info=info)))["trace"]


def test_the_log_goes_to_standard_error(capsys):
    log_to_stderr("text")
    logging.getLogger("regard.server").info("hello")
    assert "info hello" in capsys.readouterr().err
    log_to_stderr("none")
    logging.getLogger("regard.server").info("hello")
    assert capsys.readouterr().err == ""


def test_metrics_have_the_text_format_of_prometheus():
    metrics = Metrics()
    metrics.running.labels("gpt").set(3)
    metrics.first_token.labels("gpt").observe(0.03)
    text = metrics.text().decode()
    assert 'regard_requests_running{model="gpt"} 3.0' in text
    assert 'regard_time_to_first_token_seconds_bucket{le="0.05",model="gpt"} 1.0' in text
    assert Metrics().text().decode().count('model="gpt"') == 0  # each application has its own
