"""Hugging Face encoder-decoder architectures that compute the same as regard's Transformer: mapping of settings."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError

from regard.config.settings import Settings
from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.causal_configs import LANGUAGE_FORMS, CausalArchitecture
from regard.interop.huggingface.encoder_configs import EncoderArchitecture, encoder_form
from regard.models.base.settings import Vocabularies
from regard.models.transformer.model import TransformerSettings


@dataclass(frozen=True)
class Form:
    """An encoder-decoder architecture of `transformers`: its names there, and the settings it implies."""

    name: str
    model_type: str
    architecture: str
    norm_order: str
    positions: str
    has_two_vocabularies: bool = False
    """Source and target may have separate vocabularies."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Additional config values that turn off special defaults of `generate`."""

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
"""mBART and BART have a norm after the embeddings, M2M100 other sinusoids and position offsets: none fits."""

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "silu": "silu", "swish": "silu"}
"""Hugging Face activation functions and regard's."""

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
"""Hugging Face settings, and regard's of the same value."""

EPSILON = 1e-5
"""Epsilon of every layer norm in these architectures."""

TABLE_LENGTH = 1024
"""Minimum number of sinusoidal positions written: unbounded in regard, a matrix in `transformers`."""


def form_for(settings: TransformerSettings, vocabularies: Vocabularies) -> Form:
    """Return the architecture that computes exactly the same as a model with these settings."""
    _check_blocks(settings)
    for form in FORMS:
        if (form.norm_order, form.positions) == (settings.norm_order, settings.positions):
            if not vocabularies.is_shared and not form.has_two_vocabularies:
                raise ConfigError(
                    f'text.vocabularies: "separate" with model.norm_order "{settings.norm_order}" fits no Hugging '
                    f'Face architecture; text.vocabularies="shared" does ({form.name}), or model.norm_order="post" '
                    f"(Marian)."
                )
            return form
    fitting = ", ".join(f"{form.norm_order} with {form.positions} ({form.name})" for form in FORMS)
    raise ConfigError(
        f'model.norm_order, model.positions: "{settings.norm_order}" with "{settings.positions}" fits no Hugging '
        f"Face architecture; these do: {fitting}."
    )


def _check_blocks(settings: TransformerSettings) -> None:
    """Refuse settings that no architecture has."""
    if settings.norm != "layer":
        raise ConfigError(f'model.norm: "{settings.norm}" fits no Hugging Face architecture; "layer" does.')
    if settings.activation not in ACTIVATIONS.values():
        known = ", ".join(dict.fromkeys(ACTIVATIONS.values()))
        raise ConfigError(
            f'model.activation: "{settings.activation}" fits no Hugging Face architecture; these do: {known}.'
        )
    if settings.norm_epsilon != EPSILON:
        raise ConfigError(
            f"model.norm_epsilon: {settings.norm_epsilon} fits no Hugging Face architecture; {EPSILON} does."
        )
    if settings.groups != settings.heads:
        raise ConfigError(
            f"model.key_value_heads: {settings.groups} for {settings.heads} heads fits no Hugging Face architecture; "
            f"one for each does."
        )
    if settings.heads * settings.width_of_head != settings.width:
        raise ConfigError(
            f"model.head_width: {settings.width_of_head} times {settings.heads} heads is not the width "
            f"{settings.width}, as every Hugging Face architecture needs; leave head_width out."
        )


def config_for(settings: TransformerSettings, vocabularies: Vocabularies, form: Form) -> dict[str, Any]:
    """Return the config.json of a model, without special tokens."""
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
    """Return the settings of tied embeddings: Marian has two, the others tie all or none."""
    if not form.has_two_vocabularies:
        return {"tie_word_embeddings": settings.embeddings == "shared"}
    return {
        "decoder_vocab_size": vocabularies.target,
        "share_encoder_decoder_embeddings": settings.embeddings == "shared",
        "tie_word_embeddings": settings.embeddings != "separate",
    }


def form_of(config: dict[str, Any], where: str) -> Form | CausalArchitecture | EncoderArchitecture:
    """Return the architecture of a config.json."""
    if config.get("model_type") == EncoderArchitecture.model_type:
        return encoder_form(config, where)
    for form in (*FORMS, *LANGUAGE_FORMS):
        if config.get("model_type") == form.model_type:
            return form
    known = ", ".join(form.model_type for form in (*FORMS, *LANGUAGE_FORMS, EncoderArchitecture))
    raise CheckpointError(f'{where}: model_type "{config.get("model_type")}" is not one that can be read ({known}).')


def settings_of(config: dict[str, Any], form: Form, where: str) -> dict[str, Any]:
    """Return regard's settings by name for a config.json, without those of embeddings."""
    values: dict[str, Any] = {"norm_order": form.norm_order, "positions": form.positions}
    for theirs, ours in NUMBERS.items():
        if config.get(theirs) is None:
            raise CheckpointError(f"{where}: {theirs} is missing, so the model cannot be built.")
        if values.setdefault(ours, config[theirs]) != config[theirs]:
            raise CheckpointError(
                f"{where}: {theirs} is {config[theirs]} but {values[ours]} on the other side; a model whose encoder "
                f"and decoder differ in {ours} cannot be read."
            )
    activation = config.get("activation_function", "gelu")
    if activation not in ACTIVATIONS:
        raise CheckpointError(
            f'{where}: activation_function "{activation}" is not one that can be read ({", ".join(ACTIVATIONS)}).'
        )
    values |= {"activation": ACTIVATIONS[activation], "embedding_dropout": values["dropout"]}
    if form.positions == "learned":
        if config.get("max_position_embeddings") is None:
            raise CheckpointError(f"{where}: max_position_embeddings is missing, so the model cannot be built.")
        values["max_positions"] = config["max_position_embeddings"]
    return values


Kind = TypeVar("Kind", bound=Settings)


def checked(kind: type[Kind], values: dict[str, Any], where: str, what: str = "no model that can be built") -> Kind:
    """Return validated settings of a file; impossible ones are refused."""
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = "".join(f"{part}: " for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ").removesuffix(".")
        raise CheckpointError(f"{where}: it describes {what} ({name}{reason}).") from None
