"""What a checkpoint of each task remembers beside its model: one table, checked when a checkpoint is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from regard.checkpoint.records import CONFIG, Size
from regard.config.records import Count, Record, check_record
from regard.data.encoding.labeled import Pairs
from regard.data.feeds.masking import MaskingSettings
from regard.data.settings.text import SentenceRule
from regard.errors import CheckpointError
from regard.models.base.protocols import ModelSettings, Vocabularies
from regard.models.families import Kind, family
from regard.models.heads import HeadSettings
from regard.text.tokenizer import Tokenizer

Number = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Column = str | int | None
Length = Annotated[int, Field(ge=8, lt=2**31)]
"""How many tokens of a text are read at most; the tokens around it need room too."""


class OriginRecord(Record):
    """A model that another one has begun with."""

    path: str
    sha256: str


class BesideRecord(OriginRecord):
    """Word vectors beside a model."""

    words: Count


class EmbedRecord(Record):
    """How texts become vectors unless told."""

    pooling: str = "mean"
    is_normalized: bool = False
    max_length: Size = 2**31 - 1


class Facts(Record):
    """What any task may remember."""

    seed: int | None = None
    averaged: list[str] = Field(default_factory=list)
    init_from: OriginRecord | None = None
    extra_vectors: BesideRecord | None = None
    untrained: list[str] = Field(default_factory=list)
    embed: EmbedRecord | None = None
    columns: dict[str, Column | list[Column]] = Field(default_factory=dict)


class TranslateFacts(Facts):
    """What a translator remembers."""

    decode: dict[str, Any] = Field(default_factory=dict)


class LanguageFacts(Facts):
    """What a language model remembers."""

    generate: dict[str, Any] = Field(default_factory=dict)
    window: Size | None = None


class MaskedFacts(Facts):
    """What a masked language model remembers."""

    length: Length | None = None
    sentences: SentenceRule = "marks"
    pack_documents: bool = True
    masking: MaskingSettings = MaskingSettings()
    early_updates: Count = 0

    @model_validator(mode="after")
    def _was_trained_here(self) -> "MaskedFacts":
        if self.seed is not None and self.length is None:
            raise ValueError("length is missing")
        return self


class ElmoFacts(Facts):
    """What an ELMo remembers."""

    window: Size
    bytes_per_word: Positive
    words: Count


class HeadedFacts(Facts):
    """What every model remembers that was fine-tuned."""

    max_length: Length


class LabelFacts(HeadedFacts):
    """What a model remembers that says one of several labels."""

    labels: list[str] = Field(min_length=1)


class ClassifyFacts(LabelFacts):
    """What a classifier remembers."""

    texts: Literal[1, 2]
    pair_encoding: Pairs


class RegressFacts(HeadedFacts):
    """What a model remembers that says a number."""

    texts: Literal[1, 2]
    pair_encoding: Pairs
    center: Number
    spread: Positive


class AnswerFacts(HeadedFacts):
    """What a model remembers that answers questions."""

    stride: Size
    max_answer_tokens: Size
    has_unanswerable: bool
    threshold: Number = 0.0


@dataclass(frozen=True)
class TaskFiles:
    """What a checkpoint of a task holds."""

    facts: type[Facts]
    kinds: tuple[Kind, ...]
    heads: tuple[str, ...] = ()
    """The kinds of head it may have; none: it has no head."""
    roles: tuple[set[str], ...] = ({"tokenizer"},)
    """The tokenizers it may have."""


READERS: tuple[Kind, ...] = ("causal-lm", "encoder", "bidirectional-lm", "embeddings")
SPELLED: tuple[set[str], ...] = ({"tokenizer"}, {"tokenizer", "words"})
TASKS = {
    "answer": TaskFiles(AnswerFacts, ("encoder",), ("extractive-qa",)),
    "choose": TaskFiles(HeadedFacts, ("causal-lm", "encoder"), ("multiple-choice",)),
    "classify": TaskFiles(ClassifyFacts, READERS, ("classification",), SPELLED),
    "elmo": TaskFiles(ElmoFacts, ("bidirectional-lm",), roles=({"tokenizer", "words"},)),
    "language-model": TaskFiles(LanguageFacts, ("causal-lm",)),
    "masked-language-model": TaskFiles(MaskedFacts, ("encoder",)),
    "regress": TaskFiles(RegressFacts, READERS, ("regression", "similarity"), SPELLED),
    "tag": TaskFiles(LabelFacts, ("encoder", "bidirectional-lm", "embeddings"), ("token-classification",), SPELLED),
    "translate": TaskFiles(
        TranslateFacts,
        ("seq2seq", "conditional-masked-lm"),
        roles=({"tokenizer"}, {"source", "target"}),
    ),
    "vectors": TaskFiles(Facts, ("word-vectors",)),
}

BOUNDED = ("max_length", "length", "window")
"""Facts that no model with fewer places can keep."""


def check_facts(folder: Path, task: str, facts: Mapping[str, Any], parts: "Parts") -> None:
    """Refuse what pipelines of a task cannot use; of a task that this version does not know, nothing is known."""
    path = folder / CONFIG
    what = "the config of a regard checkpoint"
    if task not in TASKS:
        check_record(dict(facts), path, Facts, CheckpointError, what, "copy it again")
        return
    wanted = TASKS[task]
    check_record(dict(facts), path, wanted.facts, CheckpointError, what, "copy it again")
    kind, head = family(parts.settings.family).kind, parts.head.kind if parts.head else None
    problem = ""
    if kind not in wanted.kinds:
        problem = f"model.family: no {parts.settings.family} has the task {task}"
    elif (head is None) == bool(wanted.heads) or (head is not None and head not in wanted.heads):
        problem = f"head.kind: {head} is none of the task {task}"
    elif parts.roles not in wanted.roles or ("tokenizer" in parts.roles) < parts.vocabularies.is_shared:
        problem = f"tokenizers: {', '.join(sorted(parts.roles)) or 'none'} are not those of the task {task}"
    elif (facts.get("pair_encoding") == "bi-encoder") != (head == "similarity"):
        problem = f"pair_encoding: {facts['pair_encoding']} does not go with head.kind {head}"
    elif facts.get("texts") == 1 and facts["pair_encoding"] != "cross-encoder":
        problem = f"pair_encoding: {facts['pair_encoding']} is for two texts, and texts is 1"
    elif parts.head and len(facts.get("labels", ())) not in (0, parts.head.outputs):
        problem = f"labels: there are {len(facts['labels']):,}, but head.outputs is {parts.head.outputs:,}"
    if problem:
        raise CheckpointError(f"{path}: this is not {what} ({problem}); copy it again.")


@dataclass(frozen=True)
class Parts:
    """What facts must agree with."""

    settings: ModelSettings
    vocabularies: Vocabularies
    head: HeadSettings | None
    roles: set[str]


def check_bounds(folder: Path, facts: Mapping[str, Any], places: int | None) -> None:
    """Refuse lengths that go past the last place of a model."""
    for name in BOUNDED:
        if places is not None and facts.get(name) is not None and facts[name] > places:
            raise CheckpointError(
                f"{folder / CONFIG}: {name} is {facts[name]:,}, but the model has {places:,} places; copy it again."
            )


def check_tokenizer(path: Path, role: str, tokenizer: Tokenizer, task: str, parts: Parts) -> None:
    """Refuse a tokenizer that is not the one the model was trained with, as far as its size tells."""
    size = parts.vocabularies.source if role in ("tokenizer", "source") else parts.vocabularies.target
    has = tokenizer.size - (task == "vectors")  # an unknown word has no vector
    needed = max(tokenizer.vocabulary, default=0) + 1
    # Encoders of other libraries, and heads over them, may have rows that no token uses.
    may_be_smaller = parts.head is not None or family(parts.settings.family).kind == "encoder"
    if has == size or (may_be_smaller and max(has, needed) <= size):
        return
    raise CheckpointError(
        f"{path}: this tokenizer has {has:,} tokens, but the model {size:,}; put the tokenizer it was trained with "
        f"there."
    )
