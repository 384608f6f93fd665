"""The table of model families: a name, its settings, and the class that builds it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import nn

from regard.errors import ConfigError
from regard.models.base.settings import HeadSettings, ModelSettings, Vocabularies
from regard.models.bert import Bert, BertSettings
from regard.models.convolutional import Convolutional, ConvolutionalSettings
from regard.models.elmo.model import Elmo, ElmoSettings
from regard.models.gpt.model import Gpt, GptSettings
from regard.models.heads import ModelWithHead
from regard.models.presets import presets
from regard.models.recurrent.language_model import RecurrentLanguageModel, RecurrentLmSettings
from regard.models.recurrent.seq2seq import RecurrentSettings, RecurrentTranslator
from regard.models.transformer.mask_predict import MaskPredict, MaskPredictSettings
from regard.models.transformer.model import Transformer, TransformerSettings
from regard.models.word_embeddings import WordEmbeddings, WordEmbeddingSettings
from regard.models.word_vectors import WordVectorSettings, WordVectorTables

Kind = Literal[
    "seq2seq", "conditional-masked-lm", "causal-lm", "encoder", "bidirectional-lm", "embeddings", "word-vectors"
]
"""The protocol of `models.base.protocols` that a family implements; determines its tasks."""

KINDS: dict[Kind, str] = {
    "seq2seq": "sequence-to-sequence model",
    "conditional-masked-lm": "conditional masked language model",
    "causal-lm": "language model",
    "encoder": "text encoder",
    "word-vectors": "word vector model",
    "bidirectional-lm": "bidirectional language model",
    "embeddings": "word embedding model",
}
"""The name of each kind in messages."""

BIDIRECTIONAL_KINDS: tuple[Kind, ...] = ("encoder", "bidirectional-lm", "embeddings")
"""Kinds whose token representations depend on left and right context alike, or on none."""


@dataclass(frozen=True)
class Family:
    """A model family: its settings class, its constructor and its kind."""

    settings: type[ModelSettings]
    build: Callable[[Any, Vocabularies], nn.Module]
    kind: Kind


FAMILIES = {
    "bert": Family(BertSettings, Bert, "encoder"),
    "convolutional": Family(ConvolutionalSettings, Convolutional, "seq2seq"),
    "elmo": Family(ElmoSettings, Elmo, "bidirectional-lm"),
    "gpt": Family(GptSettings, Gpt, "causal-lm"),
    "mask-predict": Family(MaskPredictSettings, MaskPredict, "conditional-masked-lm"),
    "recurrent": Family(RecurrentSettings, RecurrentTranslator, "seq2seq"),
    "recurrent-lm": Family(RecurrentLmSettings, RecurrentLanguageModel, "causal-lm"),
    "transformer": Family(TransformerSettings, Transformer, "seq2seq"),
    "word-vectors": Family(WordVectorSettings, WordVectorTables, "word-vectors"),
    "words": Family(WordEmbeddingSettings, WordEmbeddings, "embeddings"),
}


DEFAULT_FAMILY: dict[Kind, str] = {
    "seq2seq": "transformer",
    "conditional-masked-lm": "mask-predict",
    "causal-lm": "gpt",
    "encoder": "bert",
    "word-vectors": "word-vectors",
    "bidirectional-lm": "elmo",
    "embeddings": "words",
}
"""The family of a model for which neither preset nor family is set."""


def family(name: str) -> Family:
    """Return the family of that name."""
    if name not in FAMILIES:
        raise ConfigError(f'model.family: "{name}" is not one of {", ".join(FAMILIES)}.')
    return FAMILIES[name]


def is_bidirectional(name: str) -> bool:
    """Return True if the models of a family are bidirectional."""
    return family(name).kind in BIDIRECTIONAL_KINDS


def presets_of(*kinds: Kind) -> list[str]:
    """Return the names of the presets of some kinds."""
    return [name for name, each in presets().items() if FAMILIES[each.settings["family"]].kind in kinds]


def check_kind(task: str, wanted: Sequence[Kind], name: str, chosen: str | None) -> None:
    """Refuse a family, or the preset that selected it, whose kind a task does not support."""
    kind = family(name).kind
    if kind in wanted:
        return
    is_chosen_by_preset = chosen is not None and presets()[chosen].settings["family"] == name
    where, what = ("model.preset", chosen) if is_chosen_by_preset else ("model.family", name)
    needed = " or a ".join(KINDS[each] for each in wanted)
    raise ConfigError(
        f'{where}: "{what}" is a {KINDS[kind]}, but the task {task} needs a {needed}; matching presets: '
        f"{', '.join(presets_of(*wanted))}."
    )


def build_model(settings: ModelSettings, vocabularies: Vocabularies, head: HeadSettings | None = None) -> nn.Module:
    """Return an initialized model, with a task head where settings are given."""
    chosen = family(settings.family)
    body = chosen.build(settings, vocabularies)
    return body if head is None else ModelWithHead(body, head, is_encoder=chosen.kind in BIDIRECTIONAL_KINDS)


def count_parameters(settings: ModelSettings, vocabularies: Vocabularies, head: HeadSettings | None = None) -> int:
    """Return the number of parameters without allocating them; shared ones count once."""
    import torch

    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build_model(settings, vocabularies, head).parameters())
