"""The live standings of a race."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from regard.progress import SILENT, Bar, Progress, duration

State = Literal["waiting", "training", "scoring", "measuring", "finished", "failed"]


@dataclass
class Standing:
    """The progress of one member."""

    name: str
    state: State = "waiting"
    step: int = 0
    steps: int | None = None
    parameters: int | None = None
    loss: float | None = None
    score: float | None = None
    tokens_per_second: float | None = None
    seconds: float | None = None
    score_name: str = "BLEU"
    """Label of the score."""
    score_format: str = ".2f"


def standing_table(standings: Sequence[Standing]) -> tuple[list[str], list[list[str]], str]:
    """Return the header, a row for each member, and no note."""
    score = standings[0].score_name if standings else "score"
    rows = [
        [
            each.name,
            each.state,
            f"{each.step:,}/{each.steps:,}" if each.steps else "",
            f"{each.loss:.3f}" if each.loss is not None else "",
            f"{each.score:{each.score_format}}" if each.score is not None else "",
            f"{each.tokens_per_second:,.0f}" if each.tokens_per_second is not None else "",
            duration(each.seconds) if each.seconds is not None else "",
        ]
        for each in standings
    ]
    return ["model", "state", "step", "loss", score, "tokens/s", "training"], rows, ""


class StateLines:
    """A line for each member whose state is new, for pipes and logs."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}

    def __call__(self, standings: Sequence[Standing]) -> list[str]:
        """Return the lines of newer standings."""
        lines = []
        for each in standings:
            if each.state != self.states.get(each.name, "waiting"):
                is_scored = each.state == "finished" and each.score is not None
                score = f", {each.score_name} {each.score:{each.score_format}}" if is_scored else ""
                lines.append(f"{each.name}: {each.state}{score}")
            self.states[each.name] = each.state
        return lines


Show = Callable[[Sequence[Standing]], None]
News = Callable[[], dict[str, float]]


@dataclass
class Leaderboard:
    """All standings; `show` is called whenever one changes."""

    standings: dict[str, Standing]
    show: Show = lambda standings: None
    progress: Progress = field(default=SILENT)

    def update(self, member: str, **facts: object) -> None:
        """Update the standing of a member."""
        for name, value in facts.items():
            setattr(self.standings[member], name, value)
        self.show(list(self.standings.values()))

    def watching(self, member: str, news: News) -> Progress:
        """Return the progress of one member's run; `news` returns its latest validation metrics."""
        return _Watching(self, member, news)


class NamedProgress(Progress):
    """Forwards messages and bars with a name in front."""

    def __init__(self, progress: Progress, name: str) -> None:
        self.progress, self.name = progress, name

    def info(self, message: str) -> None:
        """Forward a message."""
        self.progress.info(f"{self.name}: {message}")

    def warn(self, message: str) -> None:
        """Forward a message."""
        self.progress.warn(f"{self.name}: {message}")

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Forward a bar."""
        with self.progress.bar(f"{self.name}: {title}", total, done) as bar:
            yield bar


class _Watching(NamedProgress):
    """Also updates the standing of the member."""

    def __init__(self, board: Leaderboard, member: str, news: News) -> None:
        super().__init__(board.progress, member)
        self.board, self.member, self.news = board, member, news

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Forward the bar; the standing follows the bar of the training loop."""
        with super().bar(title, total, done) as bar:
            if title != "train":
                yield bar
                return
            self.board.update(self.member, state="training", step=done, steps=total)
            yield _TrainingBar(bar, self, done)
            self.board.update(self.member, state="scoring", **self.news())


class _TrainingBar(Bar):
    def __init__(self, bar: Bar, watching: _Watching, done: int) -> None:
        self.bar, self.watching, self.step = bar, watching, done

    def advance(self, amount: int = 1, **facts: float) -> None:
        """Advance the bar and update the standing."""
        self.step += amount
        self.bar.advance(amount, **facts)
        self.watching.board.update(self.watching.member, step=self.step, **self.watching.news(), **facts)
