"""Ways to damage a file: bytes, JSON values, rows and cells, drawn by hypothesis."""

import json
import string
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

ODD_VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    3,
    2**63,
    10**30,
    1.5,
    -1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "²",
    "../../victim",
    "/dev/zero",
    "half \ud800",
    "a\x00b",
    [],
    [[]],
    ["x", 1, None],
    {},
    {"x": {"y": []}},
]
"""What stands where something else is meant."""

DEEP = "[" * 3_000 + "]" * 3_000
TOKENS = [
    *(b"", b"\n", b"\r", b"\t", b",", b'"', b"{", b"}", b"[", b"]", b"\\ud800", b"\xff", b"\x00", b"\x1f\x8b", b"-1"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"9" * 5_000, DEEP.encode(), b"NaN", b"null", b"1e999"),
    *("²".encode(), "\u2028".encode()),
]
"""What is put into a file."""


@st.composite
def damaged_bytes(draw: st.DrawFn, good: bytes) -> bytes:
    """Return a file with a few bytes taken out, put in, doubled or changed; now and then something else."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=200))
    data = good
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(data)))
        end = min(len(data), begin + draw(st.integers(0, 40)))
        middle = draw(st.one_of(st.sampled_from(TOKENS), st.binary(max_size=8), st.just(data[begin:end] * 2)))
        data = data[:begin] + middle + data[end:]
    return data


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        found += _paths(each, (*path, key))
    return found


@st.composite
def damaged_json(draw: st.DrawFn, good: Any) -> Any:
    """Return a JSON value in which one or two places hold something odd, or nothing."""
    value = json.loads(json.dumps(good))
    for _ in range(draw(st.integers(1, 2))):
        # The outer levels have few places and most of the meaning, so a level is drawn first.
        paths = _paths(value)
        depth = draw(st.integers(0, min(3, max(map(len, paths)))))
        path = draw(st.sampled_from([each for each in paths if len(each) == depth] or paths))
        odd = deepcopy(draw(st.sampled_from(ODD_VALUES)))
        if not path:
            value = odd
            continue
        holder = value
        for key in path[:-1]:
            holder = holder[key]
        if draw(st.integers(0, 3)) == 0:
            del holder[path[-1]]
        else:
            holder[path[-1]] = odd
    return value


def _cells() -> st.SearchStrategy[str]:
    return st.one_of(
        st.text(string.ascii_letters + " .,;\t\"'[]{}²①\u2028\x00äß漢", max_size=12),
        st.sampled_from(["", "1", "-1", "nan", "inf", "1e308", "O", "B-PER", "label", "text", "a" * 200_000]),
    )


def tables() -> st.SearchStrategy[bytes]:
    """Return files of cells with commas or tabs between, quoted or not."""
    rows = st.lists(st.lists(_cells(), max_size=4), max_size=6)
    return st.builds(
        lambda rows, separator, header: "\n".join(separator.join(row) for row in [header, *rows]).encode(
            "utf-8", "surrogatepass"
        ),
        rows,
        st.sampled_from([",", "\t", ";"]),
        st.sampled_from([["text", "label"], ["source", "target"], ["question", "context", "answers"], ["a"], []]),
    )


def objects(names: list[str]) -> st.SearchStrategy[bytes]:
    """Return lines of JSON whose fields hold anything."""
    values = st.one_of(st.sampled_from(ODD_VALUES), st.text(max_size=8), st.lists(st.text(max_size=3), max_size=3))
    rows = st.lists(st.dictionaries(st.sampled_from([*names, "id", "x"]), values, max_size=5), max_size=5)
    return st.builds(lambda rows: "".join(json.dumps(row) + "\n" for row in rows).encode(), rows)
