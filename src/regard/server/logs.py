"""Logs of a server on standard error: lines of text, or a JSON object each."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

from regard.escaping import one_line


class TextLog(logging.Formatter):
    """A line of text: time, level, what happened."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line; tracebacks follow it."""
        time = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        message = one_line(record.getMessage())
        facts: dict[str, object] = getattr(record, "facts", {})
        if facts:
            message = one_line("{client} {method} {path} {status} {milliseconds} ms {request_id}".format(**facts))
        trace = "" if record.exc_info is None else f"\n{self.formatException(record.exc_info)}"
        return f"{time} {record.levelname.lower()} {message}{trace}"


class JsonLog(logging.Formatter):
    """An object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as JSON."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        values: dict[str, object] = {"time": time, "level": record.levelname.lower(), "event": record.getMessage()}
        values |= getattr(record, "facts", {})
        if record.exc_info is not None:
            values["trace"] = self.formatException(record.exc_info)
        return json.dumps(values)


def log_to_stderr(kind: Literal["text", "json", "none"]) -> None:
    """Write the log of the server to standard error."""
    log = logging.getLogger("regard.server")
    log.handlers.clear()
    log.propagate = False
    log.setLevel(logging.ERROR if kind == "none" else logging.INFO)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLog() if kind == "json" else TextLog())
    log.addHandler(handler)
