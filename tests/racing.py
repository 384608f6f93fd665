"""Races of small models, for tests."""

import json
import signal

from regard.studies.race.folder import Race
from regard.studies.race.race import race

SETTINGS = {
    "data.valid_fraction": 0.2,
    "text": {"kind": "word", "size": 300},
    "model.width": 16,
    "model.feed_forward_width": 32,
    "model.heads": 2,
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "train": {"tokens_per_update": 300, "log_every": 3},
    "validation.bleu_sentences": 2,
    "decode.max_length": 8,
    "machine.threads": 1,
}


class Stopper:
    """Raises SIGINT once, when a member reaches a step."""

    def __init__(self, member: str, step: int) -> None:
        self.member, self.step, self.has_pressed = member, step, False

    def __call__(self, standings) -> None:
        here = next(each for each in standings if each.name == self.member)
        if not self.has_pressed and here.state == "training" and here.step >= self.step:
            self.has_pressed = True
            signal.raise_signal(signal.SIGINT)


def stopped_race(lineup, budget, out, member="transformer-tiny", step=1) -> Race:
    """Return the race that a Ctrl-C stops when a member reaches a step."""
    try:
        race(lineup, budget, out=out, show=Stopper(member, step))
    except KeyboardInterrupt as stop:
        assert str(stop) == "Stopped; everything is saved. The same command resumes it."
        return Race(out)
    raise AssertionError("nothing stopped the race")


def untimed(value):
    """Return results without durations and speeds."""
    if isinstance(value, dict):
        return {key: untimed(each) for key, each in value.items() if key not in ("times", "seconds")}
    return [untimed(each) for each in value] if isinstance(value, list) else value


def results_of(race) -> dict:
    return untimed(json.loads((race.path / "results.json").read_text()))
