"""Hugging Face BERT architectures, and the mapping between their config.json and regard's settings."""

from dataclasses import dataclass
from typing import Any

from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.causal_configs import RATES, Number, check_only, setting_value, shown
from regard.models.bert import BertSettings


@dataclass(frozen=True)
class EncoderArchitecture:
    """A BERT architecture of `transformers`: its names there, and its parts besides the blocks."""

    architecture: str
    auto: str
    parts: frozenset[str]
    """Parts below that it always has."""
    head: str | None = None
    """Kind of its task head in `HeadSettings`; None: the pretraining heads."""

    name = "BERT"
    model_type = "bert"


POOLER, MASKED_WORDS, NEXT_SENTENCE = "pooler", "masked words", "next sentence"
"""Parts that a folder may lack: the layer over [CLS], and the two pretraining heads."""

ENCODER_ARCHITECTURES = (
    EncoderArchitecture(
        "BertForPreTraining", "AutoModelForPreTraining", frozenset((POOLER, MASKED_WORDS, NEXT_SENTENCE))
    ),
    EncoderArchitecture("BertForMaskedLM", "AutoModelForMaskedLM", frozenset((MASKED_WORDS,))),
    EncoderArchitecture("BertForNextSentencePrediction", "AutoModel", frozenset((POOLER, NEXT_SENTENCE))),
    EncoderArchitecture("BertModel", "AutoModel", frozenset()),
)
"""Encoders with and without pretraining heads; a model is written as the first whose parts it has."""

HEADED_ARCHITECTURES = (
    EncoderArchitecture(
        "BertForSequenceClassification", "AutoModelForSequenceClassification", frozenset((POOLER,)), "classification"
    ),
    EncoderArchitecture(
        "BertForTokenClassification", "AutoModelForTokenClassification", frozenset(), "token-classification"
    ),
    EncoderArchitecture("BertForQuestionAnswering", "AutoModelForQuestionAnswering", frozenset(), "extractive-qa"),
    EncoderArchitecture(
        "BertForMultipleChoice", "AutoModelForMultipleChoice", frozenset((POOLER,)), "multiple-choice"
    ),
)
"""Task heads; the first is also for regression, with one label."""

NUMBERS = (
    Number("hidden_size", "width"),
    Number("num_hidden_layers", "layers"),
    Number("num_attention_heads", "heads"),
    Number("intermediate_size", "feed_forward_width"),
    Number("max_position_embeddings", "max_positions"),
    Number("type_vocab_size", "segments", 2),
    Number("hidden_dropout_prob", "dropout", 0.1),
    Number("attention_probs_dropout_prob", "attention_dropout", 0.1),
    Number("layer_norm_eps", "norm_epsilon", 1e-12),
)
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
"""Hugging Face activation functions and regard's; the first match is written."""

BUILT_ON: dict[str, Any] = {"positions": "learned", "norm": "layer", "norm_order": "post"}
"""Settings of regard, with the only value that BERT computes."""

ONLY = {"position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False}
"""Hugging Face settings that change what is computed, with the only supported value."""


def encoder_form(config: dict[str, Any], where: str) -> EncoderArchitecture:
    """Return the architecture that a BERT config.json names; without one, BertModel."""
    name = (config.get("architectures") or ["BertModel"])[0]
    for form in (*ENCODER_ARCHITECTURES, *HEADED_ARCHITECTURES):
        if name == form.architecture:
            return form
    known = ", ".join(form.architecture for form in (*ENCODER_ARCHITECTURES, *HEADED_ARCHITECTURES))
    raise CheckpointError(f'{where}: architecture "{name}" is not one that can be read ({known}).')


def encoder_settings(config: dict[str, Any], where: str) -> dict[str, Any]:
    """Return regard's settings by name for a config.json, without next_sentence_head."""
    check_only(config, ONLY, where)
    values = BUILT_ON | {number.ours: setting_value(config, number, where) for number in NUMBERS}
    activation = config.get("hidden_act", "gelu")
    if activation not in ACTIVATIONS:
        raise CheckpointError(
            f'{where}: hidden_act "{activation}" is not one that can be read ({", ".join(ACTIVATIONS)}).'
        )
    return values | {"activation": ACTIVATIONS[activation], "embedding_dropout": values["dropout"]}


def check_encoder(settings: BertSettings) -> None:
    """Refuse settings that Hugging Face's BERT cannot compute."""
    for name, value in BUILT_ON.items():
        if getattr(settings, name) != value:
            raise _refused(settings, name, f"{shown(value)} does")
    if settings.activation not in ACTIVATIONS.values():
        raise _refused(settings, "activation", f"these do: {', '.join(dict.fromkeys(ACTIVATIONS.values()))}")
    if settings.groups != settings.heads:
        raise _refused(settings, "key_value_heads", "one for each head does")
    if settings.heads * settings.width_of_head != settings.width:
        raise _refused(settings, "head_width", f"{settings.heads} heads as wide as the model do")


def _refused(settings: BertSettings, name: str, way_out: str) -> ConfigError:
    return ConfigError(
        f"model.{name}: {shown(getattr(settings, name))} does not fit BERT, the only Hugging Face "
        f"architecture of a text encoder; {way_out}."
    )


def lost_in_encoder(settings: BertSettings) -> list[str]:
    """Return the non-zero dropout settings that a BERT config.json cannot express."""
    expressible = {number.ours for number in NUMBERS}
    lost = [name for name in RATES if name not in expressible and getattr(settings, name)]
    return [name for name in lost if name != "embedding_dropout" or settings.embedding_dropout != settings.dropout]


def encoder_config(settings: BertSettings, tokens: int, form: EncoderArchitecture) -> dict[str, Any]:
    """Return the config.json of a model, without special tokens."""
    activation = next(name for name, ours in ACTIVATIONS.items() if ours == settings.activation)
    return {
        "architectures": [form.architecture],
        "model_type": form.model_type,
        "dtype": "float32",
        "vocab_size": tokens,
        **{number.theirs: getattr(settings, number.ours) for number in NUMBERS},
        "hidden_act": activation,
        "initializer_range": 0.02,
        **ONLY,
        "tie_word_embeddings": settings.embeddings == "shared",
    }
