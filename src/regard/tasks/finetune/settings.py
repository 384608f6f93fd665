"""Settings of fine-tuning: a pretrained or new model with a task head."""

from typing import Any, Generic, Literal

from pydantic import Field, model_validator

from regard.objectives.settings import HeadObjectiveSettings
from regard.tasks.settings import M, RunSettings
from regard.text.settings import CorpusTextSettings
from regard.training.settings import TrainSettings

Pooling = Literal["token", "mean", "max"]


TRAIN: dict[str, Any] = {
    "optimizer": "adamw",
    "weight_decay": 0.01,
    "betas": [0.9, 0.999],
    "epsilon": 1e-8,
    "schedule": "linear",
    "warmup": 0.1,
    "validate_every": 0.1,
}
"""Training settings of fine-tuning, over the defaults of the schema."""

SCRATCH_RATE = 0.064
"""Peak learning rate of training a head and its body from scratch, times the width."""


class TuningTrainSettings(TrainSettings):
    """Training settings with a batch size in examples."""

    examples_per_update: int | None = Field(None, ge=1)
    """Examples (windows, for questions) per update (default: tokens_per_update sets the size)."""
    adapter: Literal["none", "lora"] = "none"
    """Training of a pretrained model below the head. none: all weights; lora: low-rank updates of frozen
    weights (Hu et al., 2021), which checkpoints hold merged."""
    lora_rank: int = Field(8, ge=1)
    """For lora: rank of the updates."""
    lora_alpha: float = Field(16.0, gt=0)
    """For lora: scale of the updates, divided by the rank."""
    lora_targets: Literal["attention", "all-linear"] = "all-linear"
    """For lora: layers with updates. attention: its projections; all-linear: those of feed-forward layers too."""
    unfreeze_over: float = Field(0.0, ge=0, le=1)
    """Fraction of the run in which a pretrained model's layers are unfrozen one after the other, top first (Howard
    and Ruder, 2018); 0: all are trained from the beginning."""


class FineTuneSettings(RunSettings[M], Generic[M]):
    """Settings of all fine-tuning; `model` takes the settings of its family."""

    text: CorpusTextSettings = CorpusTextSettings()
    """The tokenizer, where no pretrained model brings its own."""
    max_length: int | None = Field(None, ge=8)
    """Maximum length of a sequence in tokens (default: the pretrained model's, the number of positions, or 512)."""
    pooling: Pooling | None = None
    """Pooling of an encoder's states into one vector. token: the first token, by the pooling layer; mean, max: over
    all tokens (default: the pretrained model's; max after a BiLSTM; token otherwise)."""
    freeze_body: bool | None = None
    """Train only the layers above the pretrained model (default: true for an ELMo, false for others)."""
    bilstm_width: int | None = Field(None, ge=0)
    """Width, in each direction, of a BiLSTM over the model's states; 0: none (default: 64 over an ELMo and over word
    vectors, none over others)."""
    extra_vectors: str | None = Field(None, min_length=1)
    """Word vectors concatenated to an ELMo's states: a file, or a run of the task vectors (default: none)."""
    freeze_extra_vectors: bool = False
    """Keep these word vectors fixed during training."""
    head_dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout before the linear layer of the head."""
    objective: HeadObjectiveSettings = HeadObjectiveSettings()
    train: TuningTrainSettings = TuningTrainSettings()

    @model_validator(mode="after")
    def _parts_fit(self) -> "FineTuneSettings[M]":
        if self.freeze_extra_vectors and self.extra_vectors is None:
            raise ValueError("freeze_extra_vectors: there are no extra word vectors; give some with extra_vectors.")
        if self.init_from is not None and self.text != type(self.text)():
            raise ValueError(
                f'text: the tokenizer comes from the pretrained model "{self.init_from}"; leave these settings out.'
            )
        return self
