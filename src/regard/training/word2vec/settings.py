"""Settings of word2vec training."""

from typing import Literal

from pydantic import Field

from regard.training.settings import LoopSettings

RATES = {"skip-gram": 0.025, "cbow": 0.05}


class VectorTrainSettings(LoopSettings):
    """Training of word vectors: stochastic gradient descent with a linearly decaying learning rate."""

    epochs: float = Field(5.0, gt=0)
    """Number of epochs."""
    steps: int = Field(10**7, ge=1)
    """Maximum number of steps of `words_per_update` words each."""
    words_per_update: int = Field(2**18, ge=64)
    """Words of a step; logging, saving and stopping happen between steps."""
    learning_rate: float | None = Field(None, gt=0)
    """Initial learning rate (default: 0.025 for skip-gram, 0.05 for cbow, as in word2vec)."""
    final_rate: float = Field(1e-4, gt=0)
    """Final learning rate, reached by linear decay."""
    engine: Literal["auto", "kernel", "batches"] = "auto"
    """kernel: a compiled loop on CPU threads; batches: many pairs at a time in PyTorch; auto: kernel on a CPU, else
    batches."""
    pairs_per_batch: int = Field(2**15, ge=1)
    """For batches: maximum number of pairs (cbow: positions) of a batch; a training has at least some 4,000."""
    max_row_update: float = Field(2.0, gt=0)
    """For batches: maximum sum of the step norms of a word in a batch; without it frequent words would overshoot."""
    save_every: int = Field(200, ge=0)
    """Steps between checkpoints; 0: one at the end alone."""
    keep_best: int = Field(1, ge=1)
    """Number of best checkpoints that are kept; without validation, the newest."""
    keep_last: int = Field(2, ge=1)
    """Number of newest checkpoints that are kept."""
    log_every: int = Field(1, ge=1)
    """Steps between two lines of metrics.jsonl."""
    schedule: Literal["linear"] = "linear"
    """Decay of the learning rate."""
