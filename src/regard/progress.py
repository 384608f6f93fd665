"""Progress reporting for all layers: silent by default; a caller passes an implementation that prints."""

from collections.abc import Iterator
from contextlib import contextmanager


class Bar:
    """A progress bar; this one shows nothing."""

    def advance(self, amount: int = 1, **facts: float) -> None:
        """Advance by `amount` steps; `facts` (loss, tokens_per_second, ...) are shown beside the bar."""


class Progress:
    """Receiver of messages and progress bars; this one shows nothing."""

    def info(self, message: str) -> None:
        """Show an informational message."""

    def warn(self, message: str) -> None:
        """Show a warning."""

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Yield a progress bar of `total` steps, `done` of them completed before (a resumed run)."""
        yield Bar()


SILENT = Progress()


def duration(seconds: float) -> str:
    """Return a time span as [h:]mm:ss."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def size_words(count: float) -> str:
    """Return a number of bytes in its largest unit (powers of 1000)."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if count >= 10 or unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def age_words(seconds: float) -> str:
    """Return a time span in its largest unit, rounded down."""
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(max(seconds, 0))} s"
