"""Settings of studies: races, transfer studies, and taggers on frozen features."""

from pathlib import Path

from pydantic import Field

from regard.config.settings import Settings
from regard.models.base.settings import FeatureTaggerSettings


class RaceOptions(Settings):
    """The members of a race and their budget."""

    models: str | None = None
    """Presets, separated by commas (see `regard presets`; default: the recipe's own)."""
    vary: str | None = None
    """Race the values of one setting: model.norm_order, or train.warmup=10,100."""
    budget: str | None = None
    """Budget of each model: 10m, 1h30m, 2000 steps, 5 epochs or 3M tokens (default: train.steps)."""


class TuneOptions(Settings):
    """The time of a tuning."""

    minutes: float = Field(30.0, gt=0)
    """Time of all trials together."""
    out: Path | None = None
    """Folder (default: tuned/RECIPE)."""


class RaceFolder(Settings):
    """The folder of a race."""

    out: Path | None = None
    """Race folder (default: races/RECIPE)."""


class TransferFolder(Settings):
    """The folder of a transfer study."""

    out: Path | None = None
    """Folder of the transfer study (default: transfers/DATA)."""


class TransferOptions(Settings):
    """The data, methods and sizes of a transfer study."""

    data: str | None = None
    """Labeled texts: .csv, .tsv, .jsonl or hf:NAME (default: reviews of the miniature world)."""
    test_data: str | None = None
    """Test examples (default: held out of --data, always the same)."""
    methods: str | None = None
    """Initializations to compare, separated by commas (default: all but elmo-vectors)."""
    sizes: str | None = None
    """Numbers of training examples, separated by commas; all: the whole set (default: 100,1000,all; 20,100,all for
    the miniature world)."""
    seeds: int = Field(3, ge=1)
    """Runs of each method and size, with seeds from 1."""
    vectors: str | None = None
    """Word vectors: a word2vec or GloVe file, or a run."""
    elmo: str | None = None
    """ELMo run."""
    bert: str | None = None
    """BERT run, or hf:DIR (a Hugging Face folder)."""


class FeatureSettings(Settings):
    """Training of a tagger on frozen features."""

    tagger: FeatureTaggerSettings = FeatureTaggerSettings()
    epochs: float = Field(10, gt=0)
    """Passes over the training sentences."""
    examples_per_update: int = Field(32, ge=1)
    """Sentences per update."""
    learning_rate: float = Field(2e-3, gt=0)
    """Peak learning rate."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Seed of all random numbers."""


class FeatureData(Settings):
    """The sentences of a comparison of layers, and the layers."""

    data: str
    """Tagged words: a .conll or .jsonl (.gz too), or hf:NAME."""
    valid_data: str | None = None
    """Validation data, in the same formats (default: held out from --data)."""
    layers: tuple[str, ...] = ()
    """Layers to compare: embeddings, last, second-to-last, sum-all, sum-last-4, concat-last-4 (default: all);
    repeatable."""
