"""The inputs of a plan: statistics of the data, the model's size, the device, and what the user has set."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from regard.tasks.settings import RunSettings
    from regard.text.settings import TokenizerSettings
    from regard.training.settings import TrainSettings


IDEOGRAM_WEIGHT = 2.5
"""Characters of an alphabet that an ideogram or a syllable stands for, about."""


@dataclass(frozen=True)
class Survey:
    """Size of the training data before it is tokenized, in part estimated from its beginning."""

    rows: int
    """Pairs, examples, or lines of running text."""
    characters: int
    """Characters of text, of both sides together where there are two."""
    sides: int = 1
    """2 for pairs of a source and a target text."""
    ideograms: float = 0.0
    """Fraction of the characters that are ideograms, kana or Hangul syllables."""
    alphabet: int = 0
    """Distinct characters in the beginning of the files; 0: not known."""

    @property
    def weighted_characters(self) -> float:
        """Characters, an ideogram counted as those of an alphabet that it stands for."""
        return self.characters * (1 + (IDEOGRAM_WEIGHT - 1) * self.ideograms)


@dataclass(frozen=True)
class Default:
    """A planned value of a setting, and the reason for it in a few words."""

    setting: str
    value: Any
    reason: str


def amount(count: float) -> str:
    """Return a large number in words: 11.3 M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f}"


@dataclass(frozen=True)
class Doubt:
    """A setting whose planned value is among the least certain, and what else it might be."""

    setting: str
    factors: tuple[float, ...] = ()
    """Other values, as factors on the planned one."""
    values: tuple[float, ...] = ()
    """All sensible values, of which the two nearest to the planned one are tried."""

    def candidates(self, settings: "RunSettings[Any]") -> list[float]:
        """Return the other values to try; none where a run has no such setting, or no value."""
        now: Any = settings
        for part in self.setting.split("."):
            now = getattr(now, part, None)
        if not isinstance(now, int | float):
            return []
        if isinstance(now, int):
            return [max(1, round(now * factor)) for factor in self.factors]
        near = sorted((each for each in self.values if each != now), key=lambda each: abs(each - now))[:2]
        return [float(f"{now * factor:.2g}") for factor in self.factors] + sorted(near)


RATE, UPDATE = Doubt("train.learning_rate", (0.5, 2.0)), Doubt("train.tokens_per_update", (0.5, 2.0))
DROPOUT = Doubt("model.dropout", values=(0.0, 0.1, 0.2, 0.3))


@dataclass(frozen=True)
class PlanInput:
    """All that a plan follows from; rules are pure functions of it."""

    settings: "RunSettings[Any]"
    """The settings of the run so far: what is set, and the schema's defaults."""
    given: frozenset[str]
    """Names of the settings that a user, a recipe or a preset has set."""
    survey: Survey | None
    """None: the data cannot be surveyed, so that nothing is planned from its size."""
    device: str = "cpu"
    """cpu, cuda or mps."""
    parameters: int = 0
    """Parameters of the model; 0 while they are not known yet."""
    has_label_lists: bool = False
    """True if the rows have lists of labels."""
    cores: int = 2
    """Threads of a CPU."""

    @property
    def train(self) -> "TrainSettings":
        """The optimization so far."""
        return cast("TrainSettings", self.settings.train)

    @property
    def text(self) -> "TokenizerSettings":
        """The tokenizer so far, of a task that has one."""
        return cast("TokenizerSettings", self.settings.text)  # type: ignore[attr-defined]  # not every task has one

    @property
    def is_gpu(self) -> bool:
        """True for a device on which many updates are affordable."""
        return self.device == "cuda"

    @property
    def is_bounded(self) -> bool:
        """True if the user or a recipe sets the length of the run."""
        return bool(self.given & {"train.steps", "train.epochs"})

    def value(self, setting: str, defaults: Iterable[Default]) -> Any:
        """Return the value of a setting: as given, else as planned, else the schema's."""
        plans = {each.setting: each.value for each in defaults}
        if setting in plans and setting not in self.given:
            return plans[setting]
        value: object = self.settings
        for part in setting.split("."):
            value = getattr(value, part)
        return value

    @property
    def tokens(self) -> int:
        """Estimated tokens of an epoch: of the target side, where there are two."""
        if self.survey is None:
            return 0
        text = getattr(self.settings, "text", None)
        amount = (
            self.survey.characters if getattr(text, "kind", "word") == "char" else self.survey.weighted_characters
        )
        return max(1, round(amount / self.survey.sides / characters_per_token(text)))

    @property
    def tokens_per_parameter(self) -> float | None:
        """Tokens of an epoch for each parameter of the model; None: not known."""
        return self.tokens / self.parameters if self.survey and self.parameters else None


def characters_per_token(text: Any) -> float:
    """Return the mean length of a token of natural text; a rule of thumb by kind and size of the vocabulary."""
    kind = getattr(text, "kind", "word")
    if kind == "char":
        return 1.0
    return 6.0 if kind == "word" else max(1.5, 0.45 * log(text.size) - 0.3)
