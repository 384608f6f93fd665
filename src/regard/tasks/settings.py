"""Settings that the runs of all tasks have in common."""

import re
from typing import Any, Generic, Literal, TypeVar

from pydantic import Field, field_validator, model_validator

from regard import registry
from regard.config.settings import Settings
from regard.models.base.family import Kind
from regard.models.base.settings import ModelSettings
from regard.text.settings import CorpusTextSettings, TextSettings
from regard.training.settings import LoopSettings, MachineSettings, TrainSettings

M = TypeVar("M", bound=ModelSettings)

LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""A language tag (BCP 47): a code of ISO 639, and further parts such as a region."""

FEATURE_RATE = 1e-3
"""Peak learning rate of new layers over a frozen body or word vectors, for any width."""
FINE_TUNING_RATES: dict[Kind, float] = {
    "causal-lm": 6.25e-5,
    "encoder": 3e-5,
    "bidirectional-lm": FEATURE_RATE,
    "embeddings": FEATURE_RATE,
}
"""Peak learning rates of fine-tuning GPT (Radford et al., 2018, §4.1) and BERT (Devlin et al., 2019, A.3) at a width
of 768; they scale with the inverse of the width."""


class LoadSettings(Settings):
    """Choices of loading a model, beside the device."""

    precision: Literal["fp32", "bf16"] = "fp32"
    """Arithmetic: fp32, or bf16 (faster on a GPU, nearly identical output)."""
    ensemble: tuple[str, ...] = ()
    """Run to ensemble a translator with, by the mean of token probabilities; repeatable."""
    quantize: Literal["none", "int8"] = "none"
    """Weights of a language model on a CPU: none, or int8 (faster; its perplexity cost is printed)."""


class RunSettings(Settings, Generic[M]):
    """All settings of a run; `model` takes the settings of the model's family."""

    task: str
    """The task: translate, language-model, classify, ..."""
    about: str = ""
    """Purpose of the recipe, in one line."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Seed of every random choice."""
    languages: tuple[str, ...] = ()
    """Language codes of the texts (de en: a translator's source first), kept in the checkpoint and the card."""
    init_from: str | None = None
    """Pretrained model: a run or checkpoint, or hf:DIR (default: random initialization)."""
    data: Any
    """Sources of the training, validation and test data."""
    model: M
    train: LoopSettings = TrainSettings()
    machine: MachineSettings = MachineSettings()
    preflight: bool = True
    """Check the data before training and report suspicious findings."""

    @field_validator("languages")
    @classmethod
    def _are_codes(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        for code in codes:
            if not LANGUAGE_CODE.fullmatch(code):
                raise ValueError(f'"{code}" is not a language code; write codes such as de, en or pt-BR.')
        return codes

    @model_validator(mode="after")
    def _selects_by_a_metric_of_its_task(self) -> "RunSettings[M]":
        if isinstance(self.train, TrainSettings):
            check_select_by(self.task, self.train.select_by)
        return self

    def shortened(self, steps: int) -> dict[str, Any]:
        """Return the overrides, by dotted name, of a trial of so many steps without early stopping or BLEU."""
        middle = steps // 2
        return {
            "train.steps": steps,
            "train.epochs": None,
            "train.warmup": min(getattr(self.train, "warmup", 0), middle),
            "train.validate_every": max(1, steps // 3),
            "train.select_by": "loss",
            "train.patience": 0,
        }


def listed(names: list[str]) -> str:
    """Return names in words: "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def check_select_by(task: str, metric: str) -> None:
    """Refuse to select checkpoints by a metric that the task does not compute on its validation set."""
    allowed = ["loss", *registry.task(task).selection_metrics]
    if metric in allowed:
        return
    others = [each.wording.plural for each in registry.tasks() if metric in each.selection_metrics]
    if others:
        raise ValueError(f'train.select_by: "{metric}" is for {listed(others)}; choose one of {", ".join(allowed)}.')
    raise ValueError(f'train.select_by: "{metric}" is not one of {", ".join(allowed)}.')


def check_tokenizer_settings(init_from: str | None, text: CorpusTextSettings | TextSettings) -> None:
    """Refuse settings of a tokenizer where the pretrained model brings its own (BPE dropout excepted)."""
    if init_from is None:
        return
    defaults = type(text)().model_dump()
    changed = (name for name, value in text.model_dump().items() if value != defaults[name])
    if name := next((each for each in changed if not each.endswith("dropout")), None):
        raise ValueError(f'text.{name}: the tokenizer comes from the pretrained model "{init_from}"; leave this out.')


class EmbeddingInitSettings(Settings):
    """Word vectors that initialize a model's embedding matrix; `--init-from FILE` names them too."""

    path: str | None = None
    """Word vectors: a word2vec or GloVe file (.gz too), or a run of the task vectors (default: random)."""
    freeze: bool = False
    """Keep the embedding matrix fixed during training."""
    side: Literal["source", "target"] = "source"
    """For a translator with two vocabularies: the language of these words."""


def check_embedding_init(init_from: str | None, vectors: EmbeddingInitSettings) -> None:
    """Refuse word vectors where the pretrained model brings its own embedding matrix."""
    if init_from is not None and vectors.path is not None:
        raise ValueError(
            f'vectors.path: the embedding matrix comes from the pretrained model "{init_from}"; leave out one of '
            f"both."
        )
