"""The settings of runs that learn word vectors."""

from typing import Generic, Literal, TypeVar

from pydantic import Field

from regard.config.settings import Settings
from regard.data.settings.text import WordData
from regard.models.base.protocols import ModelSettings
from regard.objectives.word2vec import VectorObjectiveSettings
from regard.text.word_vocabulary import WordSettings
from regard.training.settings import MachineSettings
from regard.training.word2vec.settings import VectorTrainSettings

M = TypeVar("M", bound=ModelSettings)


class VectorEvaluationSettings(Settings):
    """What the vectors are scored on when they are learned."""

    analogies: str | None = None
    """A file of analogies by section, such as questions-words.txt (.gz too)."""
    similarities: tuple[str, ...] = ()
    """Files of pairs that people have rated, such as WordSim-353."""


class VectorSettings(Settings, Generic[M]):
    """Everything about a run that learns word vectors."""

    task: Literal["vectors"] = "vectors"
    about: str = ""
    """What the recipe is for, in one line."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Every random choice follows from it."""
    init_from: str | None = None
    """Vectors to go on with: a run of this task, or a file of word2vec or GloVe; unset: vectors that are drawn."""
    data: WordData
    text: WordSettings = WordSettings()
    model: M
    objective: VectorObjectiveSettings = VectorObjectiveSettings()
    train: VectorTrainSettings = VectorTrainSettings()
    evaluation: VectorEvaluationSettings = VectorEvaluationSettings()
    machine: MachineSettings = MachineSettings()
