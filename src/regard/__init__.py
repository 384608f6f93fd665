"""Train, inspect and serve NLP models from word2vec to BERT and GPT.

run = regard.train("translate-miniature")
translator = regard.load(run.best)
translator("Der kleine Hund schläft.").text
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from regard.errors import CheckpointError, ConfigError, DataError, RegardError, RunError, RunInterrupted
from regard.version import __version__

if TYPE_CHECKING:
    from regard.api import plan, presets, race, recipes, runs, tasks, transfer, tune
    from regard.config.settings import Settings
    from regard.metrics.comparison import Comparison
    from regard.nn.probes.trace import Trace
    from regard.pipelines.base import Pipeline, Result
    from regard.pipelines.encoder import Encoder
    from regard.pipelines.word_vectors import WordVectors
    from regard.runs.evaluate import evaluate
    from regard.runs.export.exporters import export
    from regard.runs.resume import resume
    from regard.runs.run import Run
    from regard.runs.scores.compare import compare
    from regard.runs.train import train
    from regard.studies.doctor.examine import doctor
    from regard.tasks.answer.pipeline import QuestionAnswerer
    from regard.tasks.choose.pipeline import MultipleChoice
    from regard.tasks.classify.pipeline import Classifier
    from regard.tasks.evaluation import Evaluation
    from regard.tasks.language_model.pipeline import Generator
    from regard.tasks.load import load, load_encoder
    from regard.tasks.regress.pipeline import Regressor
    from regard.tasks.tag.pipeline import Tagger
    from regard.tasks.translate.pipeline import Translator

__all__ = [
    "CheckpointError",
    "Classifier",
    "Comparison",
    "ConfigError",
    "DataError",
    "Encoder",
    "Evaluation",
    "Generator",
    "MultipleChoice",
    "Pipeline",
    "QuestionAnswerer",
    "RegardError",
    "Regressor",
    "Result",
    "Run",
    "RunError",
    "RunInterrupted",
    "Settings",
    "Tagger",
    "Trace",
    "Translator",
    "WordVectors",
    "__version__",
    "compare",
    "doctor",
    "evaluate",
    "export",
    "load",
    "load_encoder",
    "plan",
    "presets",
    "race",
    "recipes",
    "resume",
    "runs",
    "tasks",
    "train",
    "transfer",
    "tune",
]

_MODULES = {
    **dict.fromkeys(("plan", "presets", "race", "recipes", "runs", "tasks", "transfer", "tune"), "regard.api"),
    "Classifier": "regard.tasks.classify.pipeline",
    "Comparison": "regard.metrics.comparison",
    "Encoder": "regard.pipelines.encoder",
    "Evaluation": "regard.tasks.evaluation",
    "Generator": "regard.tasks.language_model.pipeline",
    "MultipleChoice": "regard.tasks.choose.pipeline",
    "Pipeline": "regard.pipelines.base",
    "QuestionAnswerer": "regard.tasks.answer.pipeline",
    "Regressor": "regard.tasks.regress.pipeline",
    "Result": "regard.pipelines.base",
    "Run": "regard.runs.run",
    "Settings": "regard.config.settings",
    "Tagger": "regard.tasks.tag.pipeline",
    "Trace": "regard.nn.probes.trace",
    "Translator": "regard.tasks.translate.pipeline",
    "WordVectors": "regard.pipelines.word_vectors",
    "doctor": "regard.studies.doctor.examine",
    "export": "regard.runs.export.exporters",
    "compare": "regard.runs.scores.compare",
    "evaluate": "regard.runs.evaluate",
    "load": "regard.tasks.load",
    "load_encoder": "regard.tasks.load",
    "resume": "regard.runs.resume",
    "train": "regard.runs.train",
}


class _CallablePackage(ModuleType):
    """A package with the name of a public function: `regard.tasks` holds modules, `regard.tasks()` lists tasks."""

    def __call__(self, *arguments: object, **named: object) -> object:
        return _public(self.__name__.rpartition(".")[2])(*arguments, **named)


class _Facade(ModuleType):
    """The module `regard`: packages that it has functions for stay callable when they are imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _MODULES and isinstance(value, ModuleType):
            value.__class__ = _CallablePackage
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade


def _public(name: str) -> Any:
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)


def __getattr__(name: str) -> Any:
    """Return a public name, imported on first use: `import regard` does not load torch."""
    if name not in _MODULES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    return _public(name)


def __dir__() -> list[str]:
    return __all__
