"""What can be said in a recipe about how word vectors learn."""

from typing import Literal

from pydantic import Field

from regard.training.settings import LoopSettings

RATES = {"skip-gram": 0.025, "cbow": 0.05}


class VectorTrainSettings(LoopSettings):
    """How word vectors learn: plain gradient descent, a rate that falls to almost nothing."""

    epochs: float = Field(5.0, gt=0)
    """Passes over the text."""
    steps: int = Field(10**7, ge=1)
    """Steps at most, each of words_per_update words."""
    words_per_update: int = Field(2**18, ge=64)
    """Words between two looks at the clock: a stop or a save waits for them."""
    learning_rate: float | None = Field(None, gt=0)
    """The rate at the start; unset: 0.025 for skip-gram and 0.05 for cbow, as word2vec has it."""
    final_rate: float = Field(1e-4, gt=0)
    """The rate at the end; on the way it falls in a straight line."""
    engine: Literal["auto", "kernel", "batches"] = "auto"
    """A compiled loop on CPU threads, or many pairs at once by torch; unset: the loop on a CPU, else batches."""
    pairs_per_batch: int = Field(2**15, ge=1)
    """For batches: pairs (for cbow places) of one step at most; there are some 4,000 steps at least."""
    max_row_update: float = Field(2.0, gt=0)
    """For batches: how far a word may go at once, all its steps in a batch laid end to end: frequent words would
    overshoot."""
    save_every: int = Field(200, ge=0)
    """Steps between two checkpoints; 0: only one at the end."""
    keep_best: int = Field(1, ge=1)
    """Checkpoints kept for the best validations: there are none here, so the newest."""
    keep_last: int = Field(2, ge=1)
    """Newest checkpoints kept."""
    log_every: int = Field(1, ge=1)
    """Steps between two lines of metrics.jsonl."""
    schedule: Literal["linear"] = "linear"
    """How the rate goes."""
