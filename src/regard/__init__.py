"""Train, inspect and serve NLP models from word2vec to BERT and GPT.

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

_MODULES = {
    "load": "regard.tasks.load",
    "train": "regard.runs.train",
    "resume": "regard.runs.resume",
    "evaluate": "regard.runs.scores.evaluate",
}


def __getattr__(name: str) -> Any:
    """Return a public function, imported on first use: `import regard` does not load torch."""
    if name not in _MODULES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
