"""Settings of training: optimization, checkpoints, stopping, and the machine it runs on."""

import math
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from regard.config.settings import Settings

LoggerName = Literal["tensorboard", "mlflow", "wandb"]


def _names(value: object) -> object:
    """Return a list, or names between commas, as a tuple."""
    names = [each.strip() for each in value.split(",") if each.strip()] if isinstance(value, str) else value
    return tuple(names) if isinstance(names, list) else names


OPEN_END = 10_000_000
"""Updates of a run that the clock alone ends."""
Fraction = Annotated[float, Field(gt=0, lt=1)]


class LoopSettings(Settings):
    """Settings of every trainer: how long it trains, and what is kept."""

    steps: int = Field(20_000, ge=1)
    """Maximum number of updates."""
    epochs: float | None = Field(None, gt=0)
    """Maximum number of passes over the data (default: `steps` alone decides)."""
    learning_rate: float | None = Field(None, gt=0)
    """Peak learning rate (default: 0.001); for schedule transformer, a factor on the paper's formula (default: 1)."""
    schedule: Literal["transformer", "inverse-sqrt", "cosine", "linear", "constant", "wsd"] = "inverse-sqrt"
    """Decay after the warm-up; transformer: the formula of Vaswani et al. (2017, §5.3), warm-up included; wsd: none
    until validation stops improving or the time is nearly up, then linear to 0, which ends the run."""
    save_every: int = Field(0, ge=0)
    """Updates between additional checkpoints without a validation; 0: none."""
    keep_best: int = Field(1, ge=1)
    """Number of checkpoints kept for the best validations."""
    keep_last: int = Field(2, ge=1)
    """Number of newest checkpoints kept: one to resume from, one in case it is damaged, more to average."""
    async_save: bool = True
    """Write checkpoints in the background while training continues; they are copied to host memory first."""
    rollbacks: int = Field(3, ge=0)
    """Maximum rollbacks to the last good state, since the last improvement, after a loss diverged; also the maximum
    restarts of a model that learns nothing."""
    log_every: int = Field(20, ge=1)
    """Updates between two lines of metrics.jsonl."""
    loggers: Annotated[tuple[LoggerName, ...], BeforeValidator(_names)] = ()
    """Trackers that get the lines of metrics.jsonl too: tensorboard, mlflow, wandb; several with commas."""

    @property
    def depends_on_data(self) -> bool:
        """True if the number of updates depends on the size of the data."""
        return True

    def planned(self, updates_in_epoch: int) -> Self:
        """Return the same settings with all updates counted, for data with that many updates in an epoch."""
        steps = self.steps if self.epochs is None else min(self.steps, math.ceil(self.epochs * updates_in_epoch))
        return self.model_copy(update={"steps": steps})


class TrainSettings(LoopSettings):
    """Optimization of a model: length, batch size, optimizer, schedule, checkpoints and early stopping."""

    tokens_per_update: int = Field(4096, ge=1)
    """Target tokens of an update, padding excluded, independent of memory and of the number of devices."""
    micro_batch_tokens: int | None = Field(None, ge=1)
    """Padded tokens (source and target) of a micro-batch; affects memory and speed alone (default: by device)."""
    optimizer: Literal["adam", "adamw", "sgd"] = "adam"
    """adam: Adam; adamw: Adam with decoupled weight decay; sgd: stochastic gradient descent."""
    warmup: Annotated[int, Field(ge=0)] | Fraction = 1000
    """Updates of linear warm-up from 0; below 1, a fraction of all updates."""
    betas: tuple[float, float] = (0.9, 0.98)
    """Decay rates of Adam's first and second moment."""
    epsilon: float = Field(1e-9, gt=0)
    """Adam's epsilon, added to the denominator."""
    weight_decay: float = Field(0.0, ge=0)
    """Weight decay of matrices; biases and norms have none."""
    momentum: float = Field(0.0, ge=0, lt=1)
    """Momentum of sgd."""
    clip_norm: float = Field(1.0, ge=0)
    """Maximum gradient norm of an update; 0: no clipping."""
    validate_every: Annotated[int, Field(ge=1)] | Fraction = 500
    """Updates between validations, each of which saves a checkpoint; below 1, a fraction of all updates."""
    ema_decay: float = Field(0.0, ge=0, lt=1)
    """Decay of an exponential moving average of the weights, which is validated and saved; 0: no average."""
    patience: int = Field(0, ge=0)
    """Validations without improvement after which training stops, or the rate falls (schedule wsd); 0: never."""
    minutes: float | None = Field(None, gt=0)
    """Time of the whole run, data and final scores included; the schedule wsd falls in time (default: no limit)."""
    select_by: str = "loss"
    """Validation metric that selects the best checkpoint."""
    distributed: Literal["auto", "replicate", "shard", "hybrid"] = "auto"
    """Strategy of several processes; replicate: the whole model in each (DDP); shard: a part of weights, gradients
    and optimizer in each (FSDP2); hybrid: shard within a host, replicate over hosts (HSDP); auto: replicate if the
    model fits, else shard."""
    tensor_parallel: int = Field(1, ge=1, le=1024)
    """Number of processes that split the heads, feed-forward layers and vocabulary of one model; the strategy is for
    the groups of them."""
    activation_checkpointing: bool = False
    """Recompute the activations of each Transformer block in the backward pass: less memory, a third more time."""

    @model_validator(mode="after")
    def _numbers_fit(self) -> "TrainSettings":
        if self.schedule == "transformer" and self.warmup == 0:
            raise ValueError('warmup: 0 leaves the schedule "transformer" without a peak; set at least 1.')
        if self.minutes is not None and "schedule" in self.model_fields_set and self.schedule != "wsd":
            raise ValueError(
                f'minutes: {self.minutes:g} needs the schedule "wsd", but it is "{self.schedule}"; leave one of both '
                f"out."
            )
        if not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas: {list(self.betas)} must be at least 0 and below 1.")
        return self

    @property
    def depends_on_data(self) -> bool:
        """True if the number of updates, warm-up or validations depends on the size of the data."""
        return self.epochs is not None or self.warmup % 1 > 0 or self.validate_every % 1 > 0

    def planned(self, updates_in_epoch: int) -> Self:
        """Return the settings with epochs and fractions converted to updates, given the updates of an epoch."""
        steps = self.steps if self.epochs is None else min(self.steps, math.ceil(self.epochs * updates_in_epoch))
        counted = lambda value: value if isinstance(value, int) else math.ceil(value * steps)
        warmup = counted(self.warmup)
        if self.schedule in ("cosine", "linear"):
            warmup = min(warmup, steps - 1)
        update = {"steps": steps, "epochs": None, "warmup": warmup, "validate_every": counted(self.validate_every)}
        return self.model_copy(update=update)

    @property
    def ends_itself(self) -> bool:
        """True if validation or the clock decides when the rate falls; `steps` is only a limit then."""
        return self.schedule == "wsd" and (self.patience > 0 or self.minutes is not None)

    @property
    def is_open(self) -> bool:
        """True if the clock alone decides how many updates there are; `steps` has no meaning then."""
        return self.minutes is not None and self.steps >= OPEN_END

    @property
    def peak_rate(self) -> float:
        """The peak learning rate, with the default of the schedule."""
        return self.learning_rate or (1.0 if self.schedule == "transformer" else 1e-3)


class MachineSettings(Settings):
    """The hardware and the arithmetic of a run."""

    device: str = "auto"
    """auto: the best available; cpu; cuda (or cuda:1 ...); mps."""
    threads: int | None = Field(None, ge=1)
    """CPU threads (default: one for each core)."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Precision of matrix products; auto: bf16 on CUDA, fp32 elsewhere."""
    cuda_graphs: bool = True
    """Capture training steps as CUDA graphs: faster small models, a little memory for each batch shape."""
    compile: bool = False
    """Compile the model's blocks (CUDA): a minute of start-up, faster steps."""
    bf16_residual: bool = False
    """Keep the residual stream in bf16 where products are (CUDA): less memory traffic."""
    deterministic: bool = False
    """Refuse nondeterministic operations (CPU runs repeat exactly without it)."""
    processes: int = Field(1, ge=1, le=1024)
    """Number of processes that train together on this host, a device for each; torchrun starts those of several."""
    max_restarts: int = Field(0, ge=0, le=1000)
    """Maximum restarts of all processes from the latest checkpoint, after one of them died."""
    process_timeout: float = Field(600.0, gt=0, le=86400)
    """Seconds to wait for another process before it is given up."""
