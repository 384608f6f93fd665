"""Hugging Face causal LM architectures that compute the same as a GPT of regard: mapping of their settings."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from regard.errors import CheckpointError, ConfigError
from regard.models.gpt.model import GptSettings


class Number(NamedTuple):
    """A Hugging Face setting, regard's setting of the same value, and the Hugging Face default."""

    theirs: str
    ours: str
    default: float | None = None


@dataclass(frozen=True)
class CausalArchitecture:
    """A causal LM architecture of `transformers`: its names there, and the settings it implies."""

    name: str
    model_type: str
    architecture: str
    built_on: dict[str, Any]
    """Settings of regard, with the only value that this architecture computes."""
    numbers: tuple[Number, ...]
    activation: tuple[str, str]
    """Hugging Face setting of the activation function, and its default."""
    activations: dict[str, str]
    """Hugging Face activation functions and regard's; the first match is written."""
    inner_width: str | None
    """Hugging Face setting of the feed-forward width; None: always four times the width."""
    positions: str
    """Hugging Face setting of the maximum sequence length."""
    is_tied: bool = True
    """Default of tie_word_embeddings."""
    only: dict[str, Any] = field(default_factory=dict)
    """Hugging Face settings that change what is computed, with the only supported value."""
    inner_only: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The same for settings inside a setting, such as rope_parameters."""

    auto = "AutoModelForCausalLM"


COMMON = {"has_output_bias": False, "scales_embeddings": False}
GPT_NUMBERS = (
    Number("n_embd", "width"),
    Number("n_layer", "layers"),
    Number("n_head", "heads"),
    Number("resid_pdrop", "dropout", 0.1),
    Number("embd_pdrop", "embedding_dropout", 0.1),
    Number("attn_pdrop", "attention_dropout", 0.1),
    Number("layer_norm_epsilon", "norm_epsilon", 1e-5),
)

LANGUAGE_FORMS = (
    CausalArchitecture(
        "GPT-2",
        "gpt2",
        "GPT2LMHeadModel",
        {"positions": "learned", "norm": "layer", "norm_order": "pre", **COMMON},
        GPT_NUMBERS,
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
        # reorder_and_upcast_attn only changes rounding in half precision; weights are read as fp32.
        only={"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False},
    ),
    CausalArchitecture(
        "GPT",
        "openai-gpt",
        "OpenAIGPTLMHeadModel",
        {"positions": "learned", "norm": "layer", "norm_order": "post", **COMMON},
        GPT_NUMBERS,
        ("afn", "gelu"),
        {"gelu": "gelu-tanh", "relu": "relu", "silu": "silu", "swish": "silu"},  # its gelu is the tanh approximation
        None,
        "n_positions",
    ),
    CausalArchitecture(
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
        {"silu": "swiglu", "swish": "swiglu"},  # always gated there
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


def language_form_for(settings: GptSettings) -> CausalArchitecture:
    """Return the architecture that computes exactly the same as a model with these settings."""

    def differences(form: CausalArchitecture) -> list[str]:
        return [name for name, value in form.built_on.items() if getattr(settings, name) != value]

    form = min(LANGUAGE_FORMS, key=lambda each: len(differences(each)))
    if names := differences(form):
        raise _refused(settings, form, names[0], f"{shown(form.built_on[names[0]])} does")
    if settings.activation not in form.activations.values():
        known = ", ".join(dict.fromkeys(form.activations.values()))
        raise _refused(settings, form, "activation", f"these do: {known}")
    if form.inner_width is None and settings.feed_forward_width != 4 * settings.width:
        raise _refused(settings, form, "feed_forward_width", f"four times the width does, {4 * settings.width}")
    expressible = _expressible(form)
    if settings.groups != settings.heads and "key_value_heads" not in expressible:
        raise _refused(settings, form, "key_value_heads", "one for each head does")
    if settings.heads * settings.width_of_head != settings.width and "head_width" not in expressible:
        raise _refused(settings, form, "head_width", f"{settings.heads} heads as wide as the model do")
    return form


def _refused(settings: GptSettings, form: CausalArchitecture, name: str, way_out: str) -> ConfigError:
    value = shown(getattr(settings, name))
    return ConfigError(
        f"model.{name}: {value} does not fit {form.name}, the nearest Hugging Face architecture; {way_out}."
    )


def shown(value: Any) -> str:
    """Return a value as written in a recipe."""
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _expressible(form: CausalArchitecture) -> set[str]:
    """Return the settings of regard that a config.json of this architecture can express."""
    return {number.ours for number in form.numbers}


def lost_rates(settings: GptSettings, form: CausalArchitecture) -> list[str]:
    """Return the non-zero dropout settings that the architecture cannot express."""
    return [name for name in RATES if name not in _expressible(form) and getattr(settings, name)]


def language_config(settings: GptSettings, tokens: int, window: int, form: CausalArchitecture) -> dict[str, Any]:
    """Return the config.json of a model, without special tokens."""
    activation = next(name for name, ours in form.activations.items() if ours == settings.activation)
    inner = {} if form.inner_width is None else {form.inner_width: settings.feed_forward_width}
    resolved = {"key_value_heads": settings.groups, "head_width": settings.width_of_head}
    values = settings.model_dump() | resolved
    return {
        "architectures": [form.architecture],
        "model_type": form.model_type,
        "dtype": "float32",
        "vocab_size": tokens,
        **{number.theirs: values[number.ours] for number in form.numbers},
        **inner,
        form.positions: window,
        form.activation[0]: activation,
        "tie_word_embeddings": settings.embeddings == "shared",
        **form.only,
        **form.inner_only,
    }


def language_settings(config: dict[str, Any], form: CausalArchitecture, where: str) -> dict[str, Any]:
    """Return regard's settings by name for a config.json."""
    check_only(config, form.only, where)
    for name, only in form.inner_only.items():
        check_only(config.get(name) or {}, only, where, f"{name}.")
    values = dict.fromkeys(RATES, 0.0) | form.built_on
    for number in form.numbers:
        values[number.ours] = setting_value(config, number, where)
    if values.get("key_value_heads") == values["heads"]:
        values["key_value_heads"] = None
    if values.get("head_width") and values["head_width"] * values["heads"] == values["width"]:
        values["head_width"] = None
    name, default = form.activation
    activation = config.get(name, default)
    if activation not in form.activations:
        known = ", ".join(form.activations)
        raise CheckpointError(f'{where}: {name} "{activation}" is not one that can be read ({known}).')
    values["activation"] = form.activations[activation]
    inner = config.get(form.inner_width) if form.inner_width else None
    values["feed_forward_width"] = 4 * values["width"] if inner is None else inner
    values["max_positions"] = setting_value(config, Number(form.positions, "max_positions"), where)
    values["embeddings"] = "shared" if config.get("tie_word_embeddings", form.is_tied) else "separate"
    return values


def check_only(config: dict[str, Any], only: dict[str, Any], where: str, inside: str = "") -> None:
    """Refuse a config with an unsupported value of a setting that changes what is computed."""
    for name, value in only.items():
        if config.get(name, value) not in (value, None):
            actual, supported = shown(config[name]), shown(value)
            raise CheckpointError(
                f"{where}: {inside}{name} is {actual}, and only a model with {supported} can be read."
            )


def setting_value(config: dict[str, Any], number: Number, where: str) -> Any:
    """Return the value of a setting; a config without a required one is refused."""
    value = config.get(number.theirs, number.default)
    if value is None and number.ours not in MAY_BE_UNSET:
        raise CheckpointError(f"{where}: {number.theirs} is missing, so the model cannot be built.")
    return value
