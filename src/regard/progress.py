"""How any layer reports progress: silent unless the caller hands in something that draws."""

from collections.abc import Iterator
from contextlib import contextmanager


class Bar:
    """One piece of work under way."""

    def advance(self, amount: int = 1, **facts: float) -> None:
        """Move on by `amount`; `facts` (loss, tokens_per_second, ...) are shown beside the bar."""


class Progress:
    """Receives messages and bars; this one shows nothing."""

    def say(self, message: str) -> None:
        """Tell the user something in passing."""

    def warn(self, message: str) -> None:
        """Tell the user something that may need their attention."""

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Yield a bar for work of `total` steps, `done` of which lie behind it (a resumed run)."""
        yield Bar()


SILENT = Progress()
