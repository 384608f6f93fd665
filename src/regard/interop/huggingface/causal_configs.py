"""The Hugging Face language models that compute what a GPT here does, and what each can express."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from regard.errors import CheckpointError, ConfigError
from regard.models.gpt.model import GptSettings


class Number(NamedTuple):
    """A setting of theirs, the one of ours that holds the same value, and what theirs is where it is not said."""

    theirs: str
    ours: str
    default: float | None = None


@dataclass(frozen=True)
class LanguageForm:
    """One architecture of `transformers`: what it is called there, and the choices it is built on."""

    name: str
    model_type: str
    architecture: str
    built_on: dict[str, Any]
    """Our settings, and the value of each without which it does not compute the same."""
    numbers: tuple[Number, ...]
    activation: tuple[str, str]
    """Their setting of the activation function, and what it is where it is not said."""
    activations: dict[str, str]
    """Their activation functions and ours; the first that fits ours is written."""
    inner_width: str | None
    """Their setting of the feed-forward width; None: it is four times the width."""
    positions: str
    """Their setting of the longest sequence."""
    is_tied: bool = True
    """Whether one table is read and said where that is not told."""
    only: dict[str, Any] = field(default_factory=dict)
    """Their settings that change what is computed, and the only value of each that is had here."""
    inner_only: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The same, of settings that hold settings."""

    auto = "AutoModelForCausalLM"


COMMON = {"has_output_bias": False, "scales_embeddings": False}
FIRST = (
    Number("n_embd", "width"),
    Number("n_layer", "layers"),
    Number("n_head", "heads"),
    Number("resid_pdrop", "dropout", 0.1),
    Number("embd_pdrop", "embedding_dropout", 0.1),
    Number("attn_pdrop", "attention_dropout", 0.1),
    Number("layer_norm_epsilon", "norm_epsilon", 1e-5),
)

LANGUAGE_FORMS = (
    LanguageForm(
        "GPT-2",
        "gpt2",
        "GPT2LMHeadModel",
        {"positions": "learned", "norm": "layer", "norm_order": "pre", **COMMON},
        FIRST,
        ("activation_function", "gelu_new"),
        {
            "gelu_new": "gelu-tanh",
            "gelu_pytorch_tanh": "gelu-tanh",
            "gelu_fast": "gelu-tanh",
            "gelu": "gelu",
            "relu": "relu",
            "silu": "silu",
            "swish": "silu",
        },
        "n_inner",
        "n_positions",
        # reorder_and_upcast_attn changes only how half precision is rounded, and here all is read as fp32.
        only={"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False},
    ),
    LanguageForm(
        "GPT",
        "openai-gpt",
        "OpenAIGPTLMHeadModel",
        {"positions": "learned", "norm": "layer", "norm_order": "post", **COMMON},
        FIRST,
        ("afn", "gelu"),
        {"gelu": "gelu-tanh", "relu": "relu", "silu": "silu", "swish": "silu"},  # their gelu is the approximation
        None,
        "n_positions",
    ),
    LanguageForm(
        "Llama",
        "llama",
        "LlamaForCausalLM",
        {
            "positions": "rotary",
            "norm": "rms",
            "norm_order": "pre",
            "activation": "swiglu",
            "has_bias": False,
            **COMMON,
        },
        (
            Number("hidden_size", "width"),
            Number("num_hidden_layers", "layers"),
            Number("num_attention_heads", "heads"),
            Number("num_key_value_heads", "key_value_heads"),
            Number("head_dim", "head_width"),
            Number("attention_dropout", "attention_dropout", 0.0),
            Number("rms_norm_eps", "norm_epsilon", 1e-6),
        ),
        ("hidden_act", "silu"),
        {"silu": "swiglu", "swish": "swiglu"},  # theirs is always gated
        "intermediate_size",
        "max_position_embeddings",
        is_tied=False,
        only={
            "attention_bias": False,
            "mlp_bias": False,
            "rope_theta": 10000.0,
            "rope_scaling": None,
        },
        inner_only={"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
    ),
)

MAY_BE_UNSET = ("key_value_heads", "head_width")
RATES = ("dropout", "embedding_dropout", "attention_dropout", "feed_forward_dropout")


def language_form_for(settings: GptSettings) -> LanguageForm:
    """Return the form that computes exactly what a model with these settings does."""

    def differences(form: LanguageForm) -> list[str]:
        return [name for name, value in form.built_on.items() if getattr(settings, name) != value]

    form = min(LANGUAGE_FORMS, key=lambda each: len(differences(each)))
    odd = differences(form)
    if odd:
        raise _refused(settings, form, odd[0], f"{shown(form.built_on[odd[0]])} does")
    if settings.activation not in form.activations.values():
        known = ", ".join(dict.fromkeys(form.activations.values()))
        raise _refused(settings, form, "activation", f"these do: {known}")
    if form.inner_width is None and settings.feed_forward_width != 4 * settings.width:
        raise _refused(settings, form, "feed_forward_width", f"four times the width does, {4 * settings.width}")
    told = _told_of(form)
    if settings.groups != settings.heads and "key_value_heads" not in told:
        raise _refused(settings, form, "key_value_heads", "one for each head does")
    if settings.heads * settings.width_of_head != settings.width and "head_width" not in told:
        raise _refused(settings, form, "head_width", f"{settings.heads} heads as wide as the model do")
    return form


def _refused(settings: GptSettings, form: LanguageForm, name: str, way_out: str) -> ConfigError:
    found = shown(getattr(settings, name))
    return ConfigError(f"model.{name}: {found} does not fit {form.name}, the nearest Hugging Face form; {way_out}.")


def shown(value: Any) -> str:
    """Return a value as a user writes it."""
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _told_of(form: LanguageForm) -> set[str]:
    return {number.ours for number in form.numbers}


def lost_rates(settings: GptSettings, form: LanguageForm) -> list[str]:
    """Return our kinds of dropout that act in training here and cannot be told there."""
    return [name for name in RATES if name not in _told_of(form) and getattr(settings, name)]


def language_config(settings: GptSettings, tokens: int, window: int, form: LanguageForm) -> dict[str, Any]:
    """Return the config.json of a model in a form, special tokens apart."""
    theirs = next(name for name, ours in form.activations.items() if ours == settings.activation)
    inner = {} if form.inner_width is None else {form.inner_width: settings.feed_forward_width}
    worked_out = {"key_value_heads": settings.groups, "head_width": settings.width_of_head}
    values = settings.model_dump() | worked_out
    return {
        "architectures": [form.architecture],
        "model_type": form.model_type,
        "dtype": "float32",
        "vocab_size": tokens,
        **{number.theirs: values[number.ours] for number in form.numbers},
        **inner,
        form.positions: window,
        form.activation[0]: theirs,
        "tie_word_embeddings": settings.embeddings == "shared",
        **form.only,
        **form.inner_only,
    }


def language_settings(config: dict[str, Any], form: LanguageForm, where: str) -> dict[str, Any]:
    """Return our settings by name for a config.json."""
    check_only(config, form.only, where)
    for name, only in form.inner_only.items():
        check_only(config.get(name) or {}, only, where, f"{name}.")
    found = dict.fromkeys(RATES, 0.0) | form.built_on
    for number in form.numbers:
        found[number.ours] = told(config, number, where)
    if found.get("key_value_heads") == found["heads"]:
        found["key_value_heads"] = None
    if found.get("head_width") and found["head_width"] * found["heads"] == found["width"]:
        found["head_width"] = None
    name, default = form.activation
    activation = config.get(name, default)
    if activation not in form.activations:
        known = ", ".join(form.activations)
        raise CheckpointError(f'{where}: {name} "{activation}" is not one that can be read ({known}).')
    found["activation"] = form.activations[activation]
    inner = config.get(form.inner_width) if form.inner_width else None
    found["feed_forward_width"] = 4 * found["width"] if inner is None else inner
    found["max_positions"] = told(config, Number(form.positions, "max_positions"), where)
    found["embeddings"] = "shared" if config.get("tie_word_embeddings", form.is_tied) else "separate"
    return found


def check_only(config: dict[str, Any], only: dict[str, Any], where: str, inside: str = "") -> None:
    """Refuse a value with which something else is computed than here."""
    for name, value in only.items():
        if config.get(name, value) not in (value, None):
            found, known = shown(config[name]), shown(value)
            raise CheckpointError(f"{where}: {inside}{name} is {found}, and only a model with {known} can be read.")


def told(config: dict[str, Any], number: Number, where: str) -> Any:
    """Return the value of a setting, and refuse a config that does not say one it must."""
    value = config.get(number.theirs, number.default)
    if value is None and number.ours not in MAY_BE_UNSET:
        raise CheckpointError(f"{where}: it says no {number.theirs}, so the model cannot be built.")
    return value
