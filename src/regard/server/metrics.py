"""Counts and times of a server in the text format of Prometheus, summed over its worker processes."""

import os

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
)

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Where worker processes keep their counts; set before the first of them starts."""
FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
SLOW = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """The metrics of one application."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        gauge = lambda name, text, *labels: Gauge(
            f"regard_{name}", text, labels, registry=registry, multiprocess_mode="livesum"
        )
        counter = lambda name, text, *labels: Counter(f"regard_{name}", text, labels, registry=registry)
        seconds = lambda name, text, buckets, *labels: Histogram(
            f"regard_{name}_seconds", text, labels, registry=registry, buckets=buckets
        )
        self.requests_in_flight: Gauge = gauge("http_requests_in_flight", "HTTP requests being answered.")
        self.responses: Counter = counter("http_responses", "HTTP responses sent.", "path", "method", "status")
        self.response_seconds: Histogram = seconds(
            "http_response", "Time from the headers of a request to the end of its response.", SLOW, "path"
        )
        self.running: Gauge = gauge("requests_running", "Rows that a model works on.", "model")
        self.waiting: Gauge = gauge("requests_waiting", "Rows that wait for a model.", "model")
        self.queue: Histogram = seconds("request_queue_time", "Time that a row waits.", SLOW, "model")
        self.first_token: Histogram = seconds(
            "time_to_first_token", "Time from a row's arrival to its first token.", SLOW, "model"
        )
        self.between_tokens: Histogram = seconds(
            "time_per_output_token", "Time of a step, which gives each running row a token.", FAST, "model"
        )
        self.end_to_end: Histogram = seconds(
            "e2e_request_latency", "Time from a row's arrival to its result.", SLOW, "model"
        )
        self.prompt_tokens: Counter = counter("prompt_tokens", "Tokens of sources and prompts.", "model")
        self.generation_tokens: Counter = counter("generation_tokens", "Tokens generated.", "model")
        self.finished: Counter = counter("request_success", "Rows finished.", "model")
        self.cancelled: Counter = counter("request_cancelled", "Rows given up before their end.", "model")

    def text(self) -> bytes:
        """Return all metrics, those of other worker processes included."""
        if FOLDER not in os.environ:
            return generate_latest(self.registry)
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)
        return generate_latest(registry)
