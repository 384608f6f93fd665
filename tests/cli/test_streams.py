"""Standard streams that cannot be written do not crash the program."""

import io
import os
import sys

import pytest

from regard.cli import streams


def test_text_is_utf8_whatever_the_encoding_was(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    streams.prepare_streams()
    out.write("schön \udcff")
    out.flush()
    assert out.buffer.getvalue() == "schön ".encode() + b"\\udcff"


def test_a_silenced_stream_swallows_what_a_broken_pipe_refuses():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        stream.write("x")
        with pytest.raises(BrokenPipeError):
            stream.flush()
        streams.silence(stream)
        stream.flush()


def test_a_stream_without_a_descriptor_is_left_alone():
    stream = io.StringIO()
    streams.silence(stream)
    stream.write("x")
    assert stream.getvalue() == "x"


def test_an_error_is_one_escaped_line_on_standard_error(capsys):
    streams.print_error("a\x1b[31mb")
    out, err = capsys.readouterr()
    assert out == "" and err.endswith("b\n") and err.count("\n") == 1 and "\x1b" not in err


def test_an_error_that_cannot_be_written_is_dropped(monkeypatch):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full())
    streams.print_error("a")


def test_missing_streams_are_replaced_by_their_descriptors(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    streams.open_closed_streams()
    assert (sys.stdout.fileno(), sys.stderr.fileno()) == (1, 2) and sys.stdout.encoding == "utf-8"
