"""Bytes of files that may be gzipped, decompressed while they are read."""

import gzip
import random

import pytest

from regard.config.limits import TEXT
from regard.data.sources.decompression import open_unpacked
from regard.data.sources.lines import MAX_GZIP_RATIO
from regard.errors import DataError

DATA = random.Random(0).randbytes(50_000)


@pytest.mark.parametrize("name", ["a.bin", "a.gz"])
def test_a_file_reads_the_same_gzipped_or_not_whatever_its_name(tmp_path, name):
    for contents in DATA, gzip.compress(DATA), gzip.compress(DATA[:9]) + gzip.compress(DATA[9:]):
        path = tmp_path / name
        path.write_bytes(contents)
        with open_unpacked(path, 1000) as file:
            assert file.peek(10)[:10] == DATA[:10]
            assert b"".join(iter(lambda: file.read(777), b"")) == DATA


def test_an_empty_file_has_no_bytes(tmp_path):
    for contents in b"", gzip.compress(b""):
        path = tmp_path / "a.gz"
        path.write_bytes(contents)
        with open_unpacked(path, 1000) as file:
            assert file.read() == b""


def test_a_decompression_bomb_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setenv(TEXT, "64K")
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"\0" * 2**24, 9))
    read = 0
    with pytest.raises(DataError) as caught, open_unpacked(path, 4096) as file:
        while block := file.read(4096):
            read += len(block)
    assert str(caught.value) == (
        f"{path}: it decompresses to more than 64 KiB, over {MAX_GZIP_RATIO} times its own size, which no text does; "
        f"if it is intended, raise the limit with {TEXT}=BYTES in the environment."
    )
    assert read < 2**22


def test_a_large_file_that_compresses_like_text_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv(TEXT, "1K")
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(DATA))
    with open_unpacked(path, 4096) as file:
        assert file.read() == DATA
