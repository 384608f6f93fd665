"""Hugging Face's BERT: the architectures built on it, and what its config says, ours and theirs."""

from dataclasses import dataclass
from typing import Any

from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.causal_configs import RATES, Number, check_only, shown, told
from regard.models.bert import BertSettings


@dataclass(frozen=True)
class EncoderForm:
    """One architecture of `transformers` over BERT: what it is called there, and what it has besides the blocks."""

    architecture: str
    auto: str
    parts: frozenset[str]
    """Which of the parts below it has for certain."""
    head: str | None = None
    """The kind of head for a task it has instead of those of pretraining, as `HeadSettings` calls it."""

    name = "BERT"
    model_type = "bert"


POOLER, MASKED_WORDS, NEXT_SENTENCE = "pooler", "masked words", "next sentence"
"""What may be missing in a folder: the layer over the first token, and the two heads of pretraining."""

ENCODER_FORMS = (
    EncoderForm("BertForPreTraining", "AutoModelForPreTraining", frozenset((POOLER, MASKED_WORDS, NEXT_SENTENCE))),
    EncoderForm("BertForMaskedLM", "AutoModelForMaskedLM", frozenset((MASKED_WORDS,))),
    EncoderForm("BertForNextSentencePrediction", "AutoModel", frozenset((POOLER, NEXT_SENTENCE))),
    EncoderForm("BertModel", "AutoModel", frozenset()),
)
"""Bodies, and heads of pretraining; the first of which a model has all parts is written."""

HEADED_FORMS = (
    EncoderForm(
        "BertForSequenceClassification", "AutoModelForSequenceClassification", frozenset((POOLER,)), "classification"
    ),
    EncoderForm("BertForTokenClassification", "AutoModelForTokenClassification", frozenset(), "token-classification"),
    EncoderForm("BertForQuestionAnswering", "AutoModelForQuestionAnswering", frozenset(), "extractive-qa"),
    EncoderForm("BertForMultipleChoice", "AutoModelForMultipleChoice", frozenset((POOLER,)), "multiple-choice"),
)
"""Heads of tasks; the first also gives numbers, where it has one label."""

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
"""Their activation functions and ours; the first that fits ours is written."""

BUILT_ON: dict[str, Any] = {"positions": "learned", "norm": "layer", "norm_order": "post"}
"""Our settings, and the value of each without which BERT does not compute the same."""

ONLY = {"position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False}
"""Their settings that change what is computed, and the only value of each that is had here."""


def encoder_form(config: dict[str, Any], where: str) -> EncoderForm:
    """Return the architecture that a config.json of BERT names; one that names none has no head for certain."""
    named = config.get("architectures") or ["BertModel"]
    for form in (*ENCODER_FORMS, *HEADED_FORMS):
        if named[0] == form.architecture:
            return form
    known = ", ".join(form.architecture for form in (*ENCODER_FORMS, *HEADED_FORMS))
    raise CheckpointError(f'{where}: architecture "{named[0]}" is not one that can be read ({known}).')


def encoder_settings(config: dict[str, Any], where: str) -> dict[str, Any]:
    """Return our settings by name for a config.json, the head for the next sentence apart."""
    check_only(config, ONLY, where)
    found = BUILT_ON | {number.ours: told(config, number, where) for number in NUMBERS}
    activation = config.get("hidden_act", "gelu")
    if activation not in ACTIVATIONS:
        raise CheckpointError(
            f'{where}: hidden_act "{activation}" is not one that can be read ({", ".join(ACTIVATIONS)}).'
        )
    return found | {"activation": ACTIVATIONS[activation], "embedding_dropout": found["dropout"]}


def check_encoder(settings: BertSettings) -> None:
    """Refuse what BERT does not compute there."""
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
        f"model.{name}: {shown(getattr(settings, name))} does not fit BERT, the only Hugging Face form of a text "
        f"encoder; {way_out}."
    )


def lost_in_encoder(settings: BertSettings) -> list[str]:
    """Return our kinds of dropout that act in training here and cannot be told there."""
    known = {number.ours for number in NUMBERS}
    found = [name for name in RATES if name not in known and getattr(settings, name)]
    return [name for name in found if name != "embedding_dropout" or settings.embedding_dropout != settings.dropout]


def encoder_config(settings: BertSettings, tokens: int, form: EncoderForm) -> dict[str, Any]:
    """Return the config.json of a model, special tokens apart."""
    theirs = next(name for name, ours in ACTIVATIONS.items() if ours == settings.activation)
    return {
        "architectures": [form.architecture],
        "model_type": form.model_type,
        "dtype": "float32",
        "vocab_size": tokens,
        **{number.theirs: getattr(settings, number.ours) for number in NUMBERS},
        "hidden_act": theirs,
        "initializer_range": 0.02,
        **ONLY,
        "tie_word_embeddings": settings.embeddings == "shared",
    }
