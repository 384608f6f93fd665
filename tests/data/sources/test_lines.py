"""Text is read within limits, from files and from streams, and what is no UTF-8 is called by its name."""

import gzip
import io
import subprocess
import sys

import pytest

from regard.config.limits import LINE, TEXT
from regard.data.settings.text import TextSource
from regard.data.sources.documents import file_chunks
from regard.data.sources.lines import bounded_lines, read_lines, text_blocks
from regard.errors import DataError


def test_a_file_that_unpacks_to_more_than_the_limit_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"a\n" * 100_000))
    assert len(read_lines(path)) == 100_000
    monkeypatch.setenv(TEXT, "64K")
    with pytest.raises(DataError) as caught:
        read_lines(path)
    assert str(caught.value) == (
        f"{path}: it has more than 64 KiB of text, the most that is read at once; split it, or raise the limit "
        "with REGARD_MAX_TEXT_BYTES=BYTES in the environment."
    )


def test_a_stream_of_text_may_be_large_but_not_made_to_fill_a_disk(tmp_path, monkeypatch):
    monkeypatch.setenv(TEXT, "64K")
    plain, bomb = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_bytes(b"word " * 40_000)
    assert sum(len(text) for text, _ in text_blocks(plain)) == 200_000
    bomb.write_bytes(gzip.compress(b"\x00" * 2**24, 9))
    with pytest.raises(DataError, match="decompresses to more than 64 KiB, over 100 times its own size"):
        list(text_blocks(bomb))


def test_a_line_that_does_not_end_is_refused_while_it_is_read(monkeypatch):
    monkeypatch.setenv(LINE, "1K")

    class Endless(io.RawIOBase):
        given = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            self.given += len(buffer)
            assert self.given < 2**20, "it is read on and on"
            buffer[:] = b"a" * len(buffer)
            return len(buffer)

    with pytest.raises(DataError) as caught:
        list(bounded_lines(io.BufferedReader(Endless()), "standard input"))
    assert str(caught.value) == (
        "standard input: line 1 is longer than 1 KiB; end it with a line feed, or raise the limit with "
        "REGARD_MAX_LINE_BYTES=BYTES in the environment."
    )


def test_lines_of_a_stream_are_those_of_a_file():
    data = "\ufeffa\r\nb\u2028c\n\nd".encode()
    assert list(bounded_lines(io.BytesIO(data), "standard input")) == ["a", "b\u2028c", "", "d"]


def test_a_line_of_json_has_a_limit_too(tmp_path, monkeypatch):
    monkeypatch.setenv(LINE, "1K")
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "short"}\n{"text": "' + "a" * 2_000 + '"}\n')
    with pytest.raises(DataError, match="line 2 is longer than 1 KiB"):
        list(file_chunks(path, TextSource(paths=(str(path),))))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_other_encodings_are_called_by_their_names(tmp_path, encoding):
    path = tmp_path / "a.txt"
    path.write_text("schön\n", encoding=encoding)
    for read in (read_lines, lambda path: list(text_blocks(path))):
        with pytest.raises(DataError) as caught:
            read(path)
        shown = encoding.upper()
        assert str(caught.value) == f"{path}: this is {shown}; convert it with iconv -f {encoding} -t utf-8."


def test_an_endless_line_takes_no_more_memory_than_the_limit(tiny_runs):
    """Half a gigabyte of address space beyond the start would not be enough for what is sent."""
    code = (
        "import resource, sys\n"
        "import regard, torch, tokenizers\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "most = pages * resource.getpagesize() + 2**29\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
        f"sys.argv = ['regard', 'translate', {str(tiny_runs / 'translate')!r}, '-q']\n"
        "from regard.cli.main import main\n"
        "main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            for _ in range(1024):
                process.stdin.write(b"a" * 2**20)
        except BrokenPipeError:
            pass  # it has had enough
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(process, "stdin", None)
            out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, b"")
    assert errors.decode().startswith("regard: standard input: line 1 is longer than 16 MiB;")
