"""Limits are set in the environment, by numbers that people write."""

import pytest

from regard.config.limits import LINE, max_line_bytes, max_text_bytes, readable_size
from regard.errors import ConfigError


@pytest.mark.parametrize(("text", "size"), [("1000", 1000), ("4K", 4096), ("2 MiB", 2**21), ("1g", 2**30)])
def test_a_limit_is_bytes_or_a_unit(monkeypatch, text, size):
    monkeypatch.setenv(LINE, text)
    assert max_line_bytes() == size


@pytest.mark.parametrize("text", ["many", "-1", "0", "²", "1e9", "5T"])
def test_another_word_is_refused(monkeypatch, text):
    monkeypatch.setenv(LINE, text)
    with pytest.raises(ConfigError, match="write one such as 16777216, 512M or 8G"):
        max_line_bytes()


def test_without_a_word_there_is_a_limit_all_the_same(monkeypatch):
    monkeypatch.delenv(LINE, raising=False)
    assert max_line_bytes() == 2**24 and 2**20 < max_text_bytes() <= 2**32
    assert readable_size(2**24) == "16 MiB"
