"""Task facts: the task's part of a checkpoint's config, validated when it is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol, Self

from pydantic import Field

from regard import registry
from regard.checkpoint.records import CONFIG, Size
from regard.config.records import Count, Record, check_record
from regard.errors import CheckpointError
from regard.models.base.family import Kind
from regard.models.base.settings import HeadSettings, ModelSettings, Vocabularies
from regard.text.tokenizer import Tokenizer

Number = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Column = str | int | None
Length = Annotated[int, Field(ge=8, lt=2**31)]
"""Maximum number of tokens of a text, special tokens included."""


class OriginRecord(Record):
    """A pretrained model that another model was initialized from."""

    path: str
    sha256: str


class ExtraVectorsRecord(OriginRecord):
    """Word vectors that a head takes in addition to its body's states."""

    words: Count


class EmbedRecord(Record):
    """Defaults of text embeddings: pooling, normalization, maximum length in tokens."""

    pooling: str = "mean"
    is_normalized: bool = False
    max_length: Size = 2**31 - 1


class TaskFacts(Record):
    """The facts of a checkpoint, flat in config.json, as far as tasks have them in common; each task extends them."""

    seed: int | None = None
    languages: list[str] = Field(default_factory=list)
    averaged: list[str] = Field(default_factory=list)
    init_from: OriginRecord | None = None
    extra_vectors: ExtraVectorsRecord | None = None
    untrained: list[str] = Field(default_factory=list)
    embed: EmbedRecord | None = None
    columns: dict[str, Column | list[Column]] = Field(default_factory=dict)

    @classmethod
    def read(cls, bundle: "HasFacts") -> Self:
        """Return the facts of a model, typed."""
        return cls.model_validate(bundle.facts)

    def conflict(self, head: HeadSettings | None) -> str:
        """Return the contradiction to the model's head in words; empty: there is none."""
        return ""


class HasFacts(Protocol):
    """Anything with facts: a bundle."""

    @property
    def facts(self) -> dict[str, Any]:
        """The facts as plain JSON."""


@dataclass(frozen=True)
class TaskFiles:
    """The parts of a task's checkpoint."""

    facts: type[TaskFacts]
    kinds: tuple[Kind, ...]
    """Kinds of models it trains, the default first."""
    heads: tuple[str, ...] = ()
    """Kinds of heads it may have; none: it has no head."""
    roles: tuple[frozenset[str], ...] = (frozenset({"tokenizer"}),)
    """Sets of tokenizers it may have."""
    has_unknown_row: bool = True
    """Unknown words have a row in the embedding matrix."""


BOUNDED = ("max_length", "length", "window")
"""Facts that the model's maximum number of positions bounds."""


def check_facts(folder: Path, task: str, facts: Mapping[str, Any], parts: "Parts") -> None:
    """Refuse facts that contradict the task's schema; of an unknown task the common facts are checked."""
    from regard.models.families import family

    path = folder / CONFIG
    what = "the config of a regard checkpoint"
    if not registry.has_task(task):
        check_record(dict(facts), path, TaskFacts, CheckpointError, what, "copy it again")
        return
    files: TaskFiles = registry.task(task).files
    stored = check_record(dict(facts), path, files.facts, CheckpointError, what, "copy it again")
    kind, head = family(parts.settings.family).kind, parts.head.kind if parts.head else None
    problem = stored.conflict(parts.head)
    if kind not in files.kinds:
        problem = f"model.family: no {parts.settings.family} has the task {task}"
    elif (head is None) == bool(files.heads) or (head is not None and head not in files.heads):
        problem = f"head.kind: {head} is none of the task {task}"
    elif parts.roles not in files.roles or ("tokenizer" in parts.roles) < parts.vocabularies.is_shared:
        problem = f"tokenizers: {', '.join(sorted(parts.roles)) or 'none'} are not those of the task {task}"
    if problem:
        raise CheckpointError(f"{path}: this is not {what} ({problem}); copy it again.")


@dataclass(frozen=True)
class Parts:
    """The parts of a checkpoint that facts must agree with."""

    settings: ModelSettings
    vocabularies: Vocabularies
    head: HeadSettings | None
    roles: set[str]


def check_bounds(folder: Path, facts: Mapping[str, Any], positions: int | None) -> None:
    """Refuse lengths beyond a model's maximum number of positions."""
    for name in BOUNDED:
        if positions is not None and facts.get(name) is not None and facts[name] > positions:
            raise CheckpointError(
                f"{folder / CONFIG}: {name} is {facts[name]:,}, but the model has {positions:,} positions; copy it "
                f"again."
            )


def check_tokenizer(path: Path, role: str, tokenizer: Tokenizer, task: str, parts: Parts) -> None:
    """Refuse a tokenizer whose size does not fit the model."""
    from regard.models.families import family

    size = parts.vocabularies.source if role in ("tokenizer", "source") else parts.vocabularies.target
    files: TaskFiles | None = registry.task(task).files if registry.has_task(task) else None
    has = tokenizer.size - (files is not None and not files.has_unknown_row)
    needed = max(tokenizer.vocabulary, default=0) + 1
    # Encoders of other libraries, and heads over them, may have rows that no token uses.
    may_be_smaller = parts.head is not None or family(parts.settings.family).kind == "encoder"
    if has == size or (may_be_smaller and max(has, needed) <= size):
        return
    raise CheckpointError(
        f"{path}: this tokenizer has {has:,} tokens, but the model {size:,}; put the tokenizer it was trained with "
        f"there."
    )
