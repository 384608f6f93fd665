"""A run of word vectors as one frozen value."""

from pathlib import Path
from typing import Generic, Literal

from pydantic import Field

from regard.config.settings import Settings
from regard.data.settings.text import WordData
from regard.objectives.settings import VectorObjectiveSettings
from regard.tasks.settings import M, RunSettings
from regard.text.settings import WordSettings
from regard.training.word2vec.settings import VectorTrainSettings


class VectorEvaluationSettings(Settings):
    """Files that the vectors are scored on after training."""

    analogies: str | None = None
    """A file of analogies by section, such as questions-words.txt (.gz too)."""
    similarities: tuple[str, ...] = ()
    """Files of word pairs rated by people, such as WordSim-353."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        return ", ".join([*([self.analogies] if self.analogies else []), *self.similarities])


class MapSettings(Settings):
    """The words, the projection and the files of a map."""

    top: int | None = Field(None, ge=3)
    """Number of most frequent words to plot as well."""
    method: Literal["pca", "tsne"] = "pca"
    """pca: linear projection; tsne: t-SNE, which preserves neighborhoods."""
    out: Path | None = None
    """Output NAME.png and NAME.html (default: map in the run, or in the current folder)."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Random seed of t-SNE."""


class VectorSettings(RunSettings[M], Generic[M]):
    """Everything about a run of word vectors."""

    task: Literal["vectors"] = "vectors"
    init_from: str | None = None
    """Word vectors to continue with: a run of this task, or a file of word2vec or GloVe (default: random ones)."""
    data: WordData
    text: WordSettings = WordSettings()
    objective: VectorObjectiveSettings = VectorObjectiveSettings()
    train: VectorTrainSettings = VectorTrainSettings()
    evaluation: VectorEvaluationSettings = VectorEvaluationSettings()

    def shortened(self, steps: int) -> dict[str, object]:
        """Return the overrides of a trial: as many epochs as the steps take."""
        return {"train.steps": steps, "train.epochs": float(steps)}
