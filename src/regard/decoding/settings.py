"""Settings of generation: one set for language models and translators, and those of mask-predict."""

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeVar

from pydantic import Field, field_validator, model_validator

from regard.config.resolve import Layer, resolve
from regard.config.settings import Settings

FILTERS = ("top_k", "top_p", "min_p")
"""Settings that greedy decoding refuses, beside a number of samples."""
SEARCH_ONLY = ("beam_size", "coverage_penalty")
MASK_PREDICT_ONLY = ("iterations", "length_candidates", "collapse_repeats")

FinishReason = Literal["eos", "length", "stop"]
"""eos: the model predicted EOS; length: the length limit is reached; stop: a stop string was generated."""


class GenerationSettings(Settings):
    """Generation token by token: beam search or sampling."""

    sampling_only: ClassVar[tuple[str, ...]] = ("temperature", *FILTERS)
    """Fields that a beam search refuses."""
    headings: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "Sampling": ("method", "num_samples", "temperature", "top_k", "top_p", "min_p", "seed"),
        "Beam search": ("beam_size", "n_best", "length_penalty", "length_penalty_alpha", "coverage_penalty"),
        "Constraints": ("prefix", "stop", "repetition_penalty", "no_repeat_ngram_size"),
        "Length": (
            *("min_length", "max_length", "max_length_ratio", "max_length_extra", "max_source_length"),
            *("min_new_tokens", "max_new_tokens", "context_window", "add_bos"),
        ),
    }

    method: Literal["beam", "sample"] = "beam"
    """beam: beam search; sample: ancestral sampling."""
    beam_size: int = Field(5, ge=1, le=256)
    """Beam width: hypotheses kept for each input; 1: greedy search."""
    num_samples: int = Field(1, ge=1, le=256)
    """Outputs for each input: samples, or the best hypotheses of a language model's beam search (n-best)."""
    temperature: float = Field(1.0, ge=0)
    """Sampling temperature, the divisor of the logits: below 1 sharpens, above 1 flattens; 0: greedy search."""
    top_k: int | None = Field(None, ge=1)
    """Sample from the k most probable tokens (top-k)."""
    top_p: float | None = Field(None, gt=0, le=1)
    """Sample from the smallest set of tokens whose probability sums to p (top-p, nucleus sampling)."""
    min_p: float | None = Field(None, gt=0, le=1)
    """Sample from tokens with at least this fraction of the most probable token's probability (min-p)."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Seed of sampling; together with row number, sample and step it determines every sampled token."""
    length_penalty: Literal["none", "average", "gnmt"] = "average"
    """Divisor of a hypothesis' log probability. none: 1; average: length^alpha; gnmt: ((5 + length) / 6)^alpha."""
    length_penalty_alpha: float = Field(1.0, ge=0, le=100)
    """Exponent alpha of the length penalty."""
    repetition_penalty: float = Field(1.0, ge=1, le=1e6)
    """Factor on the log probability of tokens of the prompt or already generated; 1: no penalty."""
    no_repeat_ngram_size: int = Field(0, ge=0)
    """Size of the n-grams, of the prompt too, that may not be generated again; 0: no restriction."""
    stop: tuple[str, ...] = ()
    """Stop strings: generation ends before the first of them."""

    @model_validator(mode="before")
    @classmethod
    def _sampling_has_no_beam(cls, values: object) -> object:
        if isinstance(values, dict) and values.get("method", cls.model_fields["method"].default) == "sample":
            return {"beam_size": 1, **values}
        return values

    @field_validator("stop", mode="before")
    @classmethod
    def _array_is_a_tuple(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _fit_together(self) -> "GenerationSettings":
        defaults = {name: field.default for name, field in type(self).model_fields.items()} | {"beam_size": 1}
        changed = [name for name, default in defaults.items() if getattr(self, name) != default]
        for name in changed:
            value = getattr(self, name)
            if self.method == "beam" and name in self.sampling_only:
                raise ValueError(f'{name}: {value} applies to sampling only; set method "sample" too, or omit it.')
            if self.method == "sample" and name in SEARCH_ONLY:
                raise ValueError(f'{name}: {value} applies to beam search only; omit it, or set method "beam".')
            if self.temperature == 0 and name in (*FILTERS, "num_samples"):
                raise ValueError(f"{name}: {value} applies to sampling only; set temperature above 0, or omit it.")
        if self.method == "beam" and self.num_samples > self.beam_size:
            raise ValueError(f"num_samples: {self.num_samples} is more than beam_size {self.beam_size}; raise that.")
        if "" in self.stop:
            raise ValueError('stop: "" matches everywhere; give a non-empty string, or omit it.')
        return self

    @property
    def hypotheses(self) -> int:
        """Hypotheses decoded in parallel for each input."""
        return self.beam_size if self.method == "beam" else self.num_samples

    @property
    def is_greedy(self) -> bool:
        """True where each token is the most probable one."""
        return self.beam_size == 1 if self.method == "beam" else self.temperature == 0

    @property
    def shortest(self) -> int:
        """Minimum output length in tokens, EOS included."""
        return 0

    @property
    def longest(self) -> int | None:
        """Maximum output length in tokens, EOS included, for any input; None: no fixed limit."""
        return None

    def limit(self, length: int, bound: int | None = None, prefix: int = 0) -> int:
        """Return the maximum output length, in tokens with EOS, for an input of some length.

        A prefix of that many tokens followed by EOS always fits, unless the model's bound forbids it.
        """
        raise NotImplementedError


class AnyTranslationDecoding(Settings):
    """Settings of every decoding method of a translator."""

    max_source_length: int = Field(1024, ge=1)
    """Maximum source length in tokens, EOS included; bounds the memory of attention."""

    @property
    def hypotheses(self) -> int:
        """Hypotheses decoded in parallel for each source."""
        return 1

    @property
    def longest(self) -> int | None:
        """Maximum output length in tokens, EOS included, for any source; None: no fixed limit."""
        return None


class MaskPredictDecoding(AnyTranslationDecoding):
    """Mask-predict decoding (Ghazvininejad et al., 2019, §3)."""

    headings: ClassVar[Mapping[str, tuple[str, ...]]] = {"Mask-predict models": MASK_PREDICT_ONLY}

    iterations: int = Field(4, ge=1, le=256)
    """Decoder passes over the output; each after the first predicts the least confident tokens again."""
    length_candidates: int = Field(3, ge=1, le=64)
    """Most probable output lengths decoded in parallel; the hypothesis with the best score is kept."""
    collapse_repeats: bool = False
    """Collapse runs of the same token into one; unsuitable for character or digit vocabularies."""

    @property
    def hypotheses(self) -> int:
        """Hypotheses decoded in parallel for each source."""
        return self.length_candidates


class TranslationDecoding(GenerationSettings, AnyTranslationDecoding):
    """Decoding of a translator token by token."""

    sampling_only = (*GenerationSettings.sampling_only, "num_samples")

    coverage_penalty: float = Field(0.0, ge=0, le=1e6)
    """Weight of the GNMT coverage penalty, which lowers the score where source tokens got little attention."""
    min_length: int = Field(0, ge=0, le=2**20)
    """Minimum output length in tokens, EOS included."""
    max_length: int | None = Field(None, ge=1, le=2**20)
    """Maximum output length in tokens, EOS included, for any source."""
    max_length_ratio: float = Field(2.0, gt=0, le=1000)
    """Maximum output length as a multiple of the source length, to which `max_length_extra` is added."""
    max_length_extra: int = Field(16, ge=1, le=2**20)
    """Tokens added to `max_length_ratio` times the source length."""

    @model_validator(mode="after")
    def _lengths_fit(self) -> "TranslationDecoding":
        if self.max_length is not None and self.min_length > self.max_length:
            raise ValueError(f"min_length: {self.min_length} is more than max_length {self.max_length}.")
        return self

    @property
    def shortest(self) -> int:
        """Minimum output length in tokens, EOS included."""
        return self.min_length

    @property
    def longest(self) -> int | None:
        """Maximum output length in tokens, EOS included, for any source."""
        return self.max_length

    def limit(self, length: int, bound: int | None = None, prefix: int = 0) -> int:
        """Return the maximum output length, in tokens with EOS, for a source of some length."""
        longest = int(length * self.max_length_ratio) + self.max_length_extra
        if self.max_length is not None:
            longest = min(longest, self.max_length)
        longest = max(longest, self.min_length, prefix + 1 if prefix else 0)
        return longest if bound is None else min(longest, bound)


class TextDecoding(GenerationSettings):
    """Text generation with a causal language model, which samples by default."""

    method: Literal["beam", "sample"] = "sample"
    """beam: beam search; sample: ancestral sampling."""
    max_new_tokens: int = Field(100, ge=1)
    """Maximum number of new tokens, EOS included."""
    min_new_tokens: int = Field(0, ge=0)
    """Minimum number of new tokens, EOS included; EOS is suppressed until then."""
    context_window: int | Literal["trained"] | None = None
    """Context window in tokens, or trained (default: the model's maximum); when full, its newest half is kept."""
    add_bos: bool = True
    """Prepend a document boundary (EOS, as in training) to a prompt; an empty prompt always has one."""

    @field_validator("context_window", mode="before")
    @classmethod
    def _is_a_number_or_trained(cls, value: object) -> object:
        if isinstance(value, str) and value != "trained":
            raise ValueError(f'"{value}" is neither a number of tokens nor "trained".')
        return value

    @model_validator(mode="after")
    def _lengths_fit(self) -> "TextDecoding":
        if self.min_new_tokens > self.max_new_tokens:
            raise ValueError(
                f"min_new_tokens: {self.min_new_tokens} is more than max_new_tokens {self.max_new_tokens}."
            )
        if isinstance(self.context_window, int) and self.context_window < 1:
            raise ValueError(
                f"context_window: {self.context_window} is out of range, it must be greater than or equal to 1."
            )
        return self

    @property
    def shortest(self) -> int:
        """Minimum number of new tokens, EOS included."""
        return self.min_new_tokens

    @property
    def longest(self) -> int | None:
        """Maximum number of new tokens, EOS included."""
        return self.max_new_tokens

    def limit(self, length: int, bound: int | None = None, prefix: int = 0) -> int:
        """Return the maximum number of new tokens, EOS included; a window that moves has no bound."""
        return max(self.max_new_tokens, prefix + 1 if prefix else 0)


G = TypeVar("G", bound=GenerationSettings)


def with_overrides(schema: type[G], stored: Mapping[str, object], overrides: Mapping[str, object]) -> G:
    """Return a checkpoint's settings with those of a call, which drop what is specific to another method.

    Without a method, a temperature of 0 asks for greedy sampling, and a beam size for a beam search.
    """
    changes = {name: value for name, value in overrides.items() if value is not None}
    if isinstance(changes.get("stop"), str):
        changes["stop"] = [changes["stop"]]
    if "method" not in changes and ("beam_size" in changes or changes.get("temperature") == 0):
        changes["method"] = "sample" if changes.get("temperature") == 0 else "beam"
    usual = stored.get("method", schema.model_fields["method"].default)
    dropped: tuple[str, ...] = ()
    if changes.get("method", usual) != usual:
        dropped = ("method", "num_samples", *schema.sampling_only, *SEARCH_ONLY)
    elif changes.get("temperature") == 0:
        dropped = ("num_samples", *FILTERS)
    kept = {name: value for name, value in stored.items() if name not in dropped}
    return resolve(schema, [Layer("the checkpoint", kept), Layer("the call", changes)]).settings


def length_penalty(settings: GenerationSettings, length: int) -> float:
    """Return the divisor of the log probability of a hypothesis of that many tokens, EOS included."""
    if settings.length_penalty == "none":
        return 1.0
    base = length if settings.length_penalty == "average" else (5 + length) / 6
    return float(base**settings.length_penalty_alpha)
