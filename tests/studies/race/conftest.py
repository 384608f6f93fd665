"""A race of two small models that takes seconds."""

import pytest

from racing import SETTINGS
from regard import miniature
from regard.studies.doctor import speed
from regard.studies.race.entrants import Lineup
from regard.studies.race.figures import timing


@pytest.fixture(scope="module")
def lineup(tmp_path_factory):
    """Two small models and text to race on; trials and measurements are short."""
    path = tmp_path_factory.mktemp("text") / "pairs.tsv"
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in miniature.pairs("train", 200)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(timing, "LENGTHS", (4, 8))
        patched.setattr(speed, "SECONDS", 0.05)
        models = ["transformer-tiny", "transformer-small"]
        yield Lineup("translate", models, overrides=SETTINGS | {"data.train.path": str(path)})
