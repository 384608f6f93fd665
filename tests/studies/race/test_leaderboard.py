"""Standings of a race while it runs."""

from contextlib import contextmanager

from regard.progress import Bar, Progress
from regard.studies.race.leaderboard import Leaderboard, NamedProgress, Standing


class Recorder(Progress):
    def __init__(self):
        self.lines = []

    def info(self, message):
        self.lines.append(message)

    def warn(self, message):
        self.lines.append(f"warning: {message}")

    @contextmanager
    def bar(self, title, total=None, done=0):
        self.lines.append(f"bar: {title} {done}/{total}")
        yield Bar()


def test_messages_and_bars_carry_the_name():
    recorder = Recorder()
    named = NamedProgress(recorder, "gru")
    named.info("begins")
    named.warn("is slow")
    with named.bar("encode", 5, 2) as bar:
        bar.advance(1)
    assert recorder.lines == ["gru: begins", "warning: gru: is slow", "bar: gru: encode 2/5"]


def test_the_standing_follows_the_bar_of_the_training_loop():
    shown = []
    board = Leaderboard(
        {name: Standing(name) for name in ("gru", "lstm")},
        lambda standings: shown.append([(each.state, each.step, each.loss, each.score) for each in standings]),
        Recorder(),
    )
    progress = board.watching("lstm", lambda: {"score": 12.5})
    with progress.bar("encode", 3) as bar:
        bar.advance(1)
    assert shown == []
    with progress.bar("train", 8, 4) as bar:
        bar.advance(2, loss=3.0)
    assert [states[1] for states in shown] == [
        ("training", 4, None, None),
        ("training", 6, 3.0, 12.5),
        ("scoring", 6, 3.0, 12.5),
    ]
    assert all(states[0] == ("waiting", 0, None, None) for states in shown)
