"""Train, look inside and serve every model on the road from word vectors to BERT and GPT.

run = regard.train("translate-miniature")
translator = regard.load(run.best)
translator("Der kleine Hund schläft.").text
"""

from typing import TYPE_CHECKING, Any

from regard.errors import RegardError
from regard.version import __version__

if TYPE_CHECKING:
    from regard.runs.resume import resume
    from regard.runs.scores.evaluate import evaluate
    from regard.runs.train import train
    from regard.tasks.load import load

__all__ = ["RegardError", "__version__", "evaluate", "load", "resume", "train"]

_HOMES = {
    "load": "regard.tasks.load",
    "train": "regard.runs.train",
    "resume": "regard.runs.resume",
    "evaluate": "regard.runs.scores.evaluate",
}


def __getattr__(name: str) -> Any:
    """Find the public functions where they live; torch loads only once one is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
