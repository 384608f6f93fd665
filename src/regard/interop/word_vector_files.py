"""Word vector files: word2vec text and binary, and GloVe text; each also as .gz."""

import gzip
from codecs import BOM_UTF8
from collections import Counter
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.config.limits import max_line_bytes
from regard.config.parsing import parse_integer
from regard.data.corpus.manifest import write_aside
from regard.data.sources.decompression import open_unpacked
from regard.data.sources.lines import explaining, too_long_a_line
from regard.errors import ConfigError, DataError
from regard.progress import SILENT, Progress

Vectors = NDArray[np.float32]

ENDINGS = {"word2vec": ".txt", "word2vec-binary": ".bin", "glove": ".glove.txt"}
"""Suffixes of word vector files by format."""
FORMS = tuple(ENDINGS)
"""File formats: text with a header, binary with a header, and text without one."""
ROWS = 2048
"""Rows read or written at once."""
CHUNK = 2**22
"""Bytes of a binary file read at once."""
LONGEST_WORD = 2**16
"""Maximum bytes of a word: a file that begins with more and no space has no word vectors."""
LONGEST_NUMBER = 64
"""Maximum bytes of a number on the vectorized path."""
WIDEST = 2**16
"""Maximum dimensions of a vector."""
HELD = 2**26
"""Bytes of rows buffered as text, the last one excluded."""


class VectorTable(NamedTuple):
    """Distinct words and their vectors."""

    words: list[str]
    vectors: Vectors  # (V, D)


@dataclass
class _Rows:
    """Rows read so far; a word that is not UTF-8, empty or a duplicate is skipped and counted."""

    words: dict[str, None]
    blocks: list[Vectors]
    left_out: int = 0

    def add(self, words: list[bytes], vectors: Vectors) -> None:
        kept: list[int] = []
        for number, raw in enumerate(words):
            try:
                word = raw.decode("utf-8")
            except UnicodeDecodeError:
                continue
            if word.strip() and word not in self.words:
                self.words[word] = None
                kept.append(number)
        self.left_out += len(words) - len(kept)
        self.blocks.append(vectors if len(kept) == len(words) else vectors[kept])


def read_word_vectors(path: Path, first: int | None = None, progress: Progress = SILENT) -> VectorTable:
    """Return the word vectors of a file in any of the three formats; with `first`, only its first rows."""
    rows = _Rows({}, [])
    with explaining(path), open_unpacked(path, CHUNK) as file:
        head = file.readline(LONGEST_WORD).removeprefix(BOM_UTF8)
        if not head.strip():
            raise DataError(f"{path}: there are no vectors in it; name a file of word2vec or GloVe.")
        size = _header(head)
        if size is None:
            shown = head.decode("utf-8", "replace")
            if 4 * shown.count("\ufffd") > len(shown):
                raise DataError(f"{path}: this is neither text nor word2vec's binary format; name another file.")
            _read_text(path, file, rows, first, head)
        elif not 0 < size[1] <= WIDEST:
            raise DataError(
                f"{path}: its header states vectors of {size[1]:,} dimensions, so it is damaged or not a word2vec "
                f"file; fetch it again."
            )
        elif _is_text(file, size[1]):
            is_truncated = _read_text(path, file, rows, min(first or size[0], size[0]), b"", size)
            if is_truncated and (first is None or first > size[0]):
                progress.warn(
                    f"{path}: its header states {size[0]:,} words, but more follow, which are left out; write the "
                    f"right number there."
                )
        else:
            _read_binary(path, file, rows, size, min(first or size[0], size[0]))
    if not rows.words:
        raise DataError(f"{path}: there are no vectors in it; name a file of word2vec or GloVe.")
    if rows.left_out:
        one, more = "1 row is left out, whose word", f"{rows.left_out:,} rows are left out, whose words"
        rejected = f"{one} came twice, is empty" if rows.left_out == 1 else f"{more} came twice, are empty"
        progress.warn(f"{path}: {rejected} or not UTF-8.")
    vectors = np.concatenate(rows.blocks)
    if not np.isfinite(vectors).all():
        raise DataError(f"{path}: some of its numbers are not finite, so it is damaged; fetch it again.")
    return VectorTable(list(rows.words), vectors)


def _header(line: bytes) -> tuple[int, int] | None:
    """Return (rows, dimensions) if the first line is a header, else None."""
    numbers = [parse_integer(part.decode("latin-1")) for part in line.split()]
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None or min(numbers[0], numbers[1]) < 0:
        return None
    return numbers[0], numbers[1]


def _is_text(file: BufferedReader, width: int) -> bool:
    """Return whether the row after the header is text; nothing is consumed."""
    row = file.peek(LONGEST_WORD)[: LONGEST_WORD + 32 * width].partition(b"\n")[0].strip()
    parts = row.split(b" ")[1:]
    digits = b"0123456789+-.eEinfaN"
    is_number = bool(parts) and all(len(part) < 64 and not part.strip(digits) for part in parts)
    # Binary floats are rarely printable: a printable row is text, perhaps with an error in it.
    shown = row.decode("utf-8", "replace")
    return is_number or (0 < width == len(parts) and shown.isprintable() and "\ufffd" not in shown)


def _read_text(
    path: Path, file: BufferedReader, rows: _Rows, first: int | None, head: bytes, size: tuple[int, int] | None = None
) -> bool:
    """Read rows of a word and its numbers, and return whether more follow; words may contain spaces, as in GloVe."""
    lines: list[bytes] = [head] if head else []
    width = size[1] if size else None
    done = 0
    is_truncated = is_end = False
    while not is_end:
        is_end = not _add_lines(path, file, lines, done + 1 + (size is not None))
        if not lines:
            continue
        if width is None:
            width = Counter(len(line.split()) for line in lines[:100]).most_common(1)[0][0] - 1
            if width < 1:
                raise DataError(f"{path}: line 1 has no numbers after its word; name a file of word2vec or GloVe.")
        if first is not None:
            is_truncated = len(lines) > first - done
            lines = lines[: first - done]
        begin = done + 1 + (size is not None)
        parts = [line.rstrip().rsplit(None, width) for line in lines]
        _check_words(path, parts, width, begin)
        rows.add([part[0] for part in parts], _numbers(path, parts, width, begin))
        done += len(lines)
        if done == first:
            break
        lines = []
    if size and done < min(first or size[0], size[0]):
        raise DataError(f"{path}: it ends after {done:,} of {size[0]:,} words, so it is incomplete; fetch it again.")
    return is_truncated or bool(file.readline(LONGEST_WORD).strip())


def _add_lines(path: Path, file: BufferedReader, lines: list[bytes], number: int) -> bool:
    """Append lines to the buffer, blank ones skipped, and return whether more may follow."""
    limit, size = max_line_bytes(), 0
    while len(lines) < ROWS and size < HELD:
        line = file.readline(limit + 1)
        if len(line) > limit:
            raise too_long_a_line(path, number + len(lines))
        if not line:
            return False
        size += len(line)
        if line.strip():
            lines.append(line)
    return True


def _check_words(path: Path, parts: list[list[bytes]], width: int, begin: int) -> None:
    """Refuse a row with more numbers than the others, whose first ones would become part of its word."""
    for number, part in enumerate(parts, start=begin):
        if len(parts_of_word := part[0].split()) > 1:
            extra = 0
            while extra < len(parts_of_word) - 1 and _is_number(parts_of_word[-1 - extra]):
                extra += 1
            if extra:
                raise DataError(
                    f"{path}: line {number:,} has {width + extra} numbers, but {width} are expected; fix or remove "
                    f"it."
                )


def _is_number(text: bytes) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _numbers(path: Path, parts: list[list[bytes]], width: int, begin: int) -> Vectors:
    try:
        if all(len(part) == width + 1 and max(map(len, part[1:])) <= LONGEST_NUMBER for part in parts):
            return np.array([part[1:] for part in parts]).astype(np.float32)
    except ValueError:
        pass
    rows: list[list[float]] = []
    for number, part in enumerate(parts, start=begin):  # slower, but finds the line with the error
        where = f"{path}: line {number:,}"
        if len(part) != width + 1:
            raise DataError(f"{where} has {len(part) - 1} numbers, but {width} are expected; fix or remove it.")
        rows.append([])
        for word in part[1:]:
            try:
                rows[-1].append(float(word))
            except ValueError:
                shown = "".join(c if c.isprintable() else "?" for c in word[:20].decode("utf-8", "replace"))
                raise DataError(f'{where} holds "{shown}" where a number is expected; fix or remove it.') from None
    with np.errstate(over="ignore"):  # infinite values are refused later
        return np.array(rows).astype(np.float32)


def _read_binary(path: Path, file: BufferedReader, rows: _Rows, size: tuple[int, int], wanted: int) -> None:
    count, width = size
    held, offset, bytes_of_row = b"", 0, 4 * width
    words: list[bytes] = []
    vectors: list[Vectors] = []
    for number in range(wanted):
        space = held.find(b" ", offset)
        while space < 0 or len(held) < space + 1 + bytes_of_row:
            more = file.read(CHUNK)
            if not more or (space < 0 and len(held) - offset > LONGEST_WORD):
                raise DataError(
                    f"{path}: it ends inside word {number + 1:,} of {count:,}, so it is incomplete or not a word2vec "
                    f"file; fetch it again."
                )
            held, offset = held[offset:] + more, 0
            space = held.find(b" ")
        words.append(held[offset:space].lstrip(b"\n"))
        vectors.append(np.frombuffer(held, "<f4", width, space + 1))
        offset = space + 1 + bytes_of_row
        if len(words) == ROWS or number == wanted - 1:
            rows.add(words, np.stack(vectors).astype(np.float32))
            words, vectors = [], []


def underscored(table: VectorTable, progress: Progress = SILENT) -> VectorTable:
    """Return a table with _ for white space inside words, as it separates columns; of duplicates the first stays."""
    names = ["_".join(word.split()) for word in table.words]
    changed = sum(name != word for name, word in zip(names, table.words))
    if not changed:
        return table
    first: dict[str, int] = {}
    for number, name in enumerate(names):
        first.setdefault(name, number)
    words = "1 word contains" if changed == 1 else f"{changed:,} words contain"
    lost = len(names) - len(first)
    clash = f"; {lost:,} of them {'is' if lost == 1 else 'are'} left out: the word exists already" if lost else ""
    progress.warn(f"{words} white space, the column separator of such files; it is written as _{clash}.")
    return VectorTable(list(first), table.vectors[list(first.values())])


def check_form(form: str) -> None:
    """Refuse an unknown file format."""
    if form not in FORMS:
        raise ConfigError(f'--to: "{form}" is not one of {", ".join(FORMS)}.')


def write_word_vectors(path: Path, table: VectorTable, form: str) -> None:
    """Write word vectors in a file format, atomically; a name that ends in .gz is compressed."""
    check_form(form)
    split = next((word for word in table.words if len(word.split()) != 1), None)
    if split is not None:
        raise DataError(f'The word "{split}" contains white space, the column separator of {form}; write _ for it.')

    def write(file: BinaryIO) -> None:
        if path.suffix.lower() != ".gz":
            _write(file, table, form)
            return
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
            _write(packed, table, form)  # type: ignore[arg-type]

    try:
        write_aside(path, write)
    except OSError as error:
        raise DataError(f"{path}: the vectors cannot be written ({error.strerror}); check the path.") from None


def _write(file: BinaryIO, table: VectorTable, form: str) -> None:
    count, width = table.vectors.shape
    if form != "glove":
        file.write(f"{count} {width}\n".encode())
    row_of_text = "%s " + " ".join(["%.9g"] * width) + "\n"  # nine digits round-trip fp32
    for begin in range(0, count, ROWS):
        words, vectors = table.words[begin : begin + ROWS], table.vectors[begin : begin + ROWS]
        if form == "word2vec-binary":
            raw = vectors.astype("<f4")
            file.write(b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, raw)))
        else:
            rows = zip(words, vectors.tolist(), strict=True)
            file.write("".join(row_of_text % (word, *row) for word, row in rows).encode())
