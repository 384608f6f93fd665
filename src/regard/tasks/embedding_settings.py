"""What can be said about word vectors that a model begins with."""

from typing import Literal

from regard.config.settings import Settings


class VectorTableSettings(Settings):
    """Word vectors that a model's table of tokens begins with; `--init-from FILE` names them too."""

    path: str | None = None
    """A file of word2vec or GloVe (.gz too), or a run of the task vectors; unset: the table begins at random."""
    freeze: bool = False
    """Whether the table stays as it is, or is tuned with all else."""
    side: Literal["source", "target"] = "source"
    """Of a translator with a vocabulary for each language: whose words these are."""
