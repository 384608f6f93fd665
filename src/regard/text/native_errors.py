"""Errors of `tokenizers`: its exceptions and Rust panics become a `DataError` of one sentence."""

import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from regard.errors import DataError, RegardError

PANIC = "PanicException"
"""Class name of a Rust panic: it derives from BaseException, as KeyboardInterrupt does, and is not importable."""

SHOWN = 200
"""Maximum characters of the library's own message that are quoted."""

STDERR = 2
_redirecting = threading.Lock()


@contextmanager
def explaining(what: str, texts: Iterable[object] = (), way_out: str = "") -> Iterator[None]:
    """Turn a failure of the library into a sentence that begins with `what`; invalid texts are reported first."""
    try:
        yield
    except RegardError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != PANIC:
            raise
        check_texts(texts)
        raise DataError(f"{what} ({_reason(error)}){f'; {way_out}' if way_out else ''}.") from None


def _reason(error: BaseException) -> str:
    words = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return words if len(words) <= SHOWN else f"{words[: SHOWN - 1]}…"


def check_texts(texts: Iterable[object]) -> None:
    """Refuse values that are no strings or hold a lone surrogate, which stands for bytes that were not UTF-8."""
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise DataError(f"text {number:,} is of the type {type(text).__name__}; give strings.")
        if not text.isascii():
            try:
                text.encode("utf-8")
            except UnicodeEncodeError as error:
                surrogate = f"\\u{ord(text[error.start]):04x}"
                raise DataError(
                    f"text {number:,} holds a lone surrogate ({surrogate}) at character {error.start + 1:,}, so it "
                    f"is not Unicode text; remove it, or read the text as UTF-8."
                ) from None


@contextmanager
def silent_panics() -> Iterator[None]:
    """Keep Rust's own report of a panic off standard error; all other output is written afterwards."""
    with _redirecting, tempfile.TemporaryFile() as held:
        try:
            sys.stderr.flush()
            kept = os.dup(STDERR)
        except (AttributeError, OSError, ValueError):  # there is no standard error
            yield
            return
        os.dup2(held.fileno(), STDERR)
        has_panicked = False
        try:
            yield
        except BaseException as error:
            has_panicked = type(error).__name__ == PANIC or type(error.__context__).__name__ == PANIC
            raise
        finally:
            os.dup2(kept, STDERR)
            os.close(kept)
            if not has_panicked:
                held.seek(0)
                while block := held.read(2**16):
                    os.write(STDERR, block)
