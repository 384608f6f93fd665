"""The Hugging Face architectures that compute what a Transformer here does, and what each can express."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError

from regard.config.settings import Settings
from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.causal_configs import LANGUAGE_FORMS, LanguageForm
from regard.interop.huggingface.encoder_configs import EncoderForm, encoder_form
from regard.models.base.protocols import Vocabularies
from regard.models.transformer.model import TransformerSettings


@dataclass(frozen=True)
class Form:
    """One architecture of `transformers`: what it is called there, and the choices it is built on."""

    name: str
    model_type: str
    architecture: str
    norm_order: str
    positions: str
    has_two_vocabularies: bool = False
    """Whether source and target may have vocabularies of their own."""
    extra: dict[str, Any] = field(default_factory=dict)
    """What its config needs besides, so that `generate` adds nothing of its own."""

    auto = "AutoModelForSeq2SeqLM"


FORMS = (
    Form("Marian", "marian", "MarianMTModel", "post", "sinusoidal", has_two_vocabularies=True),
    Form("Pegasus", "pegasus", "PegasusForConditionalGeneration", "pre", "sinusoidal"),
    Form(
        "Blenderbot",
        "blenderbot",
        "BlenderbotForConditionalGeneration",
        "pre",
        "learned",
        extra={"encoder_no_repeat_ngram_size": 0},
    ),
)
"""mBART and BART put a norm behind the embeddings, M2M100 counts waves and positions its own way: none fits."""

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "silu": "silu", "swish": "silu"}
"""Their activation functions and ours."""

NUMBERS = {
    "d_model": "width",
    "encoder_layers": "encoder_layers",
    "decoder_layers": "decoder_layers",
    "encoder_attention_heads": "heads",
    "decoder_attention_heads": "heads",
    "encoder_ffn_dim": "feed_forward_width",
    "decoder_ffn_dim": "feed_forward_width",
    "dropout": "dropout",
    "attention_dropout": "attention_dropout",
    "activation_dropout": "feed_forward_dropout",
    "scale_embedding": "scales_embeddings",
}
"""Their settings and ours that hold the same value."""

EPSILON = 1e-5
"""What all of them add to the variance in a layer norm."""

TABLE_LENGTH = 1024
"""How many sinusoidal positions are written: ours go on for ever, theirs stand in a table."""


def form_for(settings: TransformerSettings, vocabularies: Vocabularies) -> Form:
    """Return the form that computes exactly what a model with these settings does."""
    _check_blocks(settings)
    for form in FORMS:
        if (form.norm_order, form.positions) == (settings.norm_order, settings.positions):
            if not vocabularies.is_shared and not form.has_two_vocabularies:
                raise ConfigError(
                    f'text.vocabularies: "separate" with model.norm_order "{settings.norm_order}" fits no Hugging '
                    f'Face form; text.vocabularies="shared" does ({form.name}), or model.norm_order="post" (Marian).'
                )
            return form
    fitting = ", ".join(f"{form.norm_order} with {form.positions} ({form.name})" for form in FORMS)
    raise ConfigError(
        f'model.norm_order, model.positions: "{settings.norm_order}" with "{settings.positions}" fits no Hugging '
        f"Face form; these do: {fitting}."
    )


def _check_blocks(settings: TransformerSettings) -> None:
    """Refuse what no form has."""
    if settings.norm != "layer":
        raise ConfigError(f'model.norm: "{settings.norm}" fits no Hugging Face form; "layer" does.')
    if settings.activation not in ACTIVATIONS.values():
        known = ", ".join(dict.fromkeys(ACTIVATIONS.values()))
        raise ConfigError(f'model.activation: "{settings.activation}" fits no Hugging Face form; these do: {known}.')
    if settings.norm_epsilon != EPSILON:
        raise ConfigError(f"model.norm_epsilon: {settings.norm_epsilon} fits no Hugging Face form; {EPSILON} does.")
    if settings.groups != settings.heads:
        raise ConfigError(
            f"model.key_value_heads: {settings.groups} for {settings.heads} heads fits no Hugging Face form; one for "
            f"each does."
        )
    if settings.heads * settings.width_of_head != settings.width:
        raise ConfigError(
            f"model.head_width: {settings.width_of_head} times {settings.heads} heads is not the width "
            f"{settings.width}, as every Hugging Face form needs; leave head_width out."
        )


def config_for(settings: TransformerSettings, vocabularies: Vocabularies, form: Form) -> dict[str, Any]:
    """Return the config.json of a model in a form, special tokens apart."""
    learned = settings.positions == "learned"
    return {
        "architectures": [form.architecture],
        "model_type": form.model_type,
        "is_encoder_decoder": True,
        "dtype": "float32",
        "vocab_size": vocabularies.source,
        **{theirs: getattr(settings, ours) for theirs, ours in NUMBERS.items()},
        "activation_function": settings.activation,
        "max_position_embeddings": settings.max_positions if learned else max(TABLE_LENGTH, settings.max_positions),
        **_tying(settings, vocabularies, form),
        "forced_eos_token_id": None,
        **form.extra,
    }


def _tying(settings: TransformerSettings, vocabularies: Vocabularies, form: Form) -> dict[str, Any]:
    """Say which tables are one: Marian knows two ways to share, the others share all or nothing."""
    if not form.has_two_vocabularies:
        return {"tie_word_embeddings": settings.embeddings == "shared"}
    return {
        "decoder_vocab_size": vocabularies.target,
        "share_encoder_decoder_embeddings": settings.embeddings == "shared",
        "tie_word_embeddings": settings.embeddings != "separate",
    }


def form_of(config: dict[str, Any], where: str) -> Form | LanguageForm | EncoderForm:
    """Return the form a config.json is written in."""
    if config.get("model_type") == EncoderForm.model_type:
        return encoder_form(config, where)
    for form in (*FORMS, *LANGUAGE_FORMS):
        if config.get("model_type") == form.model_type:
            return form
    known = ", ".join(form.model_type for form in (*FORMS, *LANGUAGE_FORMS, EncoderForm))
    raise CheckpointError(f'{where}: model_type "{config.get("model_type")}" is not one that can be read ({known}).')


def settings_of(config: dict[str, Any], form: Form, where: str) -> dict[str, Any]:
    """Return our settings by name for a config.json, the embeddings apart."""
    found: dict[str, Any] = {"norm_order": form.norm_order, "positions": form.positions}
    for theirs, ours in NUMBERS.items():
        if config.get(theirs) is None:
            raise CheckpointError(f"{where}: it says no {theirs}, so the model cannot be built.")
        if found.setdefault(ours, config[theirs]) != config[theirs]:
            raise CheckpointError(
                f"{where}: {theirs} is {config[theirs]} but {found[ours]} on the other side; a model whose encoder "
                f"and decoder differ in {ours} cannot be read."
            )
    activation = config.get("activation_function", "gelu")
    if activation not in ACTIVATIONS:
        raise CheckpointError(
            f'{where}: activation_function "{activation}" is not one that can be read ({", ".join(ACTIVATIONS)}).'
        )
    found |= {"activation": ACTIVATIONS[activation], "embedding_dropout": found["dropout"]}
    if form.positions == "learned":
        if config.get("max_position_embeddings") is None:
            raise CheckpointError(f"{where}: it says no max_position_embeddings, so the model cannot be built.")
        found["max_positions"] = config["max_position_embeddings"]
    return found


Kind = TypeVar("Kind", bound=Settings)


def checked(kind: type[Kind], values: dict[str, Any], where: str, what: str = "no model that can be built") -> Kind:
    """Return the settings that a file describes, if they are possible."""
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = "".join(f"{part}: " for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ").removesuffix(".")
        raise CheckpointError(f"{where}: it describes {what} ({name}{reason}).") from None
