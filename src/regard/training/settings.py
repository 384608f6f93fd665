"""What can be said about training in a recipe."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from regard.config.settings import Settings

Share = Annotated[float, Field(gt=0, lt=1)]


class LoopSettings(Settings):
    """What every way of training has: how long it takes, and what is kept."""

    steps: int = Field(20_000, ge=1)
    """Maximum number of updates."""
    epochs: float | None = Field(None, gt=0)
    """Maximum number of passes over the data (default: `steps` alone decides)."""
    learning_rate: float | None = Field(None, gt=0)
    """Peak learning rate (default: 0.001); for schedule "transformer" a factor on the paper's formula (default: 1)."""
    schedule: Literal["transformer", "inverse-sqrt", "cosine", "linear", "constant"] = "inverse-sqrt"
    """Learning-rate schedule after warm-up."""
    save_every: int = Field(0, ge=0)
    """Updates between two further checkpoints, for long stretches between validations; 0: none."""
    keep_best: int = Field(1, ge=1)
    """Number of checkpoints kept for the best validations."""
    keep_last: int = Field(2, ge=1)
    """Number of newest checkpoints kept: one to resume from, one in case it is damaged, more to average."""
    log_every: int = Field(20, ge=1)
    """Updates between two lines of metrics.jsonl."""
    tensorboard: bool = True
    """Write curves for TensorBoard too, where it is installed."""

    @property
    def depends_on_data(self) -> bool:
        """Whether the number of updates, and which of them do what, follow from the data."""
        return True

    def planned(self, updates_in_epoch: int) -> Self:
        """Return the same settings with all updates counted, for data with that many updates in an epoch."""
        steps = self.steps if self.epochs is None else min(self.steps, math.ceil(self.epochs * updates_in_epoch))
        return self.model_copy(update={"steps": steps})


class TrainSettings(LoopSettings):
    """How a model is trained."""

    tokens_per_update: int = Field(4096, ge=1)
    """Real target tokens that make an update, whatever the memory or the number of devices."""
    micro_batch_tokens: int | None = Field(None, ge=1)
    """Padded tokens (both sides) computed at once: memory and speed, never which examples. Unset: by device."""
    optimizer: Literal["adam", "adamw", "sgd"] = "adam"
    """Adam, Adam with decoupled weight decay, or stochastic gradient descent."""
    warmup: Annotated[int, Field(ge=0)] | Share = 1000
    """Updates over which the rate climbs from 0; below 1, a share of all updates."""
    betas: tuple[float, float] = (0.9, 0.98)
    """Adam's decay rates of the first and second moment."""
    epsilon: float = Field(1e-9, gt=0)
    """Adam's guard against division by nothing."""
    weight_decay: float = Field(0.0, ge=0)
    """Pull of every weight towards 0."""
    momentum: float = Field(0.0, ge=0, lt=1)
    """Momentum of plain gradient descent."""
    clip_norm: float = Field(1.0, ge=0)
    """Largest norm of the gradient of an update; 0: never clipped."""
    validate_every: Annotated[int, Field(ge=1)] | Share = 500
    """Updates between two validations, each of which also saves a checkpoint; below 1, a share of all updates."""
    ema_decay: float = Field(0.0, ge=0, lt=1)
    """Decay of a moving average of the weights, which is then validated, saved and used; 0: no average."""
    rollbacks: int = Field(3, ge=0)
    """Returns to the last good state, since the last improvement, of a loss that explodes or is no number."""
    patience: int = Field(0, ge=0)
    """Stop after so many validations without improvement; 0: go on to the last step."""
    select_by: str = "loss"
    """The validation metric that decides which checkpoint is best."""

    @model_validator(mode="after")
    def _numbers_fit(self) -> "TrainSettings":
        if self.schedule == "transformer" and self.warmup == 0:
            raise ValueError('warmup: 0 leaves the schedule "transformer" without a peak; set at least 1.')
        if self.schedule in ("cosine", "linear") and self.warmup >= self.steps:
            raise ValueError(
                f"warmup: {self.warmup} leaves no step of {self.steps} for the rate to fall; lower it, or raise "
                f"steps."
            )
        if not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas: {list(self.betas)} must lie between 0 and 1.")
        return self

    @property
    def depends_on_data(self) -> bool:
        """Whether it takes the data to know how many updates there are and which of them do what."""
        return self.epochs is not None or self.warmup % 1 > 0 or self.validate_every % 1 > 0

    def planned(self, updates_in_epoch: int) -> Self:
        """Return the same settings with all updates counted, for data of so many in an epoch."""
        steps = self.steps if self.epochs is None else min(self.steps, math.ceil(self.epochs * updates_in_epoch))
        counted = lambda value: value if isinstance(value, int) else math.ceil(value * steps)
        warmup = counted(self.warmup)
        if self.schedule in ("cosine", "linear"):
            warmup = min(warmup, steps - 1)
        update = {"steps": steps, "epochs": None, "warmup": warmup, "validate_every": counted(self.validate_every)}
        return self.model_copy(update=update)

    @property
    def peak_rate(self) -> float:
        """The peak rate after the default has been worked out."""
        return self.learning_rate or (1.0 if self.schedule == "transformer" else 1e-3)


class MachineSettings(Settings):
    """What the work runs on."""

    device: str = "auto"
    """auto, cpu, cuda (or cuda:1 ...), mps."""
    threads: int | None = Field(None, ge=1)
    """CPU threads; unset: one a core."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Arithmetic of matrix products; auto: bf16 on CUDA, fp32 elsewhere."""
    cuda_graphs: bool = True
    """Whether training steps are recorded on a CUDA device and replayed; costs a little memory for each shape."""
    compile: bool = False
    """Whether a model's blocks are compiled for training on a CUDA device: a minute, worth it for a long run."""
    bf16_residual: bool = False
    """Whether the sums that pass from block to block are bf16 too where products are: less to move on a GPU."""
    deterministic: bool = False
    """Whether operations that may differ from run to run are refused (CPU runs repeat exactly without it)."""
