"""Settings of decoding: mask-predict, beam search and sampling of targets, and text generation."""

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from regard.config.settings import Settings

SAMPLING_ONLY = ("num_samples", "temperature", "top_k", "top_p")
SEARCH_ONLY = ("beam_size", "coverage_penalty")
MASK_PREDICT_ONLY = ("iterations", "length_candidates", "collapse_repeats")
TEXT_SAMPLING_ONLY = ("top_k", "top_p", "min_p", "num_samples")
"""Fields of `GenerateSettings` that greedy decoding refuses."""


class AnyDecodeSettings(Settings):
    """Settings of every decoding method of a sequence-to-sequence model."""

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


class MaskPredictDecodeSettings(AnyDecodeSettings):
    """Mask-predict decoding (Ghazvininejad et al., 2019, §3)."""

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


class DecodeSettings(AnyDecodeSettings):
    """Autoregressive decoding of a target: beam search or sampling."""

    method: Literal["beam", "sample"] = "beam"
    """beam: beam search; sample: ancestral sampling."""
    beam_size: int = Field(5, ge=1, le=256)
    """Beam width: hypotheses kept for each source; 1: greedy search."""
    num_samples: int = Field(1, ge=1, le=256)
    """Sampled outputs for each source."""
    temperature: float = Field(1.0, gt=0)
    """Sampling temperature, the divisor of the logits: below 1 sharpens the distribution, above 1 flattens it."""
    top_k: int | None = Field(None, ge=1)
    """Sample from the k most probable tokens (top-k)."""
    top_p: float | None = Field(None, gt=0, le=1)
    """Sample from the smallest set of tokens whose probability sums to p (top-p, nucleus sampling)."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Seed of sampling; together with row number, sample and step it determines every sampled token."""
    length_penalty: Literal["none", "average", "gnmt"] = "average"
    """Divisor of a hypothesis' log probability. none: 1; average: length^alpha; gnmt: ((5 + length) / 6)^alpha."""
    length_penalty_alpha: float = Field(1.0, ge=0, le=100)
    """Exponent alpha of the length penalty."""
    coverage_penalty: float = Field(0.0, ge=0, le=1e6)
    """Weight of the GNMT coverage penalty, which lowers the score where source tokens got little attention."""
    repetition_penalty: float = Field(1.0, ge=1, le=1e6)
    """Factor on the log probability of tokens already generated; 1: no penalty."""
    no_repeat_ngram_size: int = Field(0, ge=0)
    """Size of the n-grams that may occur only once in an output; 0: no restriction."""
    min_length: int = Field(0, ge=0, le=2**20)
    """Minimum output length in tokens, EOS included."""
    max_length: int | None = Field(None, ge=1, le=2**20)
    """Maximum output length in tokens, EOS included, for any source."""
    max_length_ratio: float = Field(2.0, gt=0, le=1000)
    """Maximum output length as a multiple of the source length, to which `max_length_extra` is added."""
    max_length_extra: int = Field(16, ge=1, le=2**20)
    """Tokens added to `max_length_ratio` times the source length."""

    @model_validator(mode="before")
    @classmethod
    def _sampling_has_no_beam(cls, values: Any) -> Any:
        return {"beam_size": 1, **values} if isinstance(values, dict) and values.get("method") == "sample" else values

    @model_validator(mode="after")
    def _fit_together(self) -> "DecodeSettings":
        defaults = {name: field.default for name, field in type(self).model_fields.items()} | {"beam_size": 1}
        for name in SAMPLING_ONLY if self.method == "beam" else SEARCH_ONLY:
            value = getattr(self, name)
            if value != defaults[name] and self.method == "beam":
                raise ValueError(f'{name}: {value} applies to sampling only; set method "sample" too, or omit it.')
            if value != defaults[name]:
                raise ValueError(f'{name}: {value} applies to beam search only; omit it, or set method "beam".')
        if self.max_length is not None and self.min_length > self.max_length:
            raise ValueError(f"min_length: {self.min_length} is more than max_length {self.max_length}.")
        return self

    @property
    def hypotheses(self) -> int:
        """Hypotheses decoded in parallel for each source."""
        return self.beam_size if self.method == "beam" else self.num_samples

    @property
    def longest(self) -> int | None:
        """Maximum output length in tokens, EOS included, for any source."""
        return self.max_length

    def limit(self, source_length: int, bound: int | None = None, prefix: int = 0) -> int:
        """Return the maximum output length, in tokens with EOS, for one source; never past the model's bound.

        A prefix of that many tokens followed by EOS always fits.
        """
        length = int(source_length * self.max_length_ratio) + self.max_length_extra
        if self.max_length is not None:
            length = min(length, self.max_length)
        length = max(length, self.min_length, prefix + 1 if prefix else 0)
        return length if bound is None else min(length, bound)


def length_penalty(settings: DecodeSettings, length: int) -> float:
    """Return the divisor of the log probability of a hypothesis of that many tokens, EOS included."""
    if settings.length_penalty == "none":
        return 1.0
    base = length if settings.length_penalty == "average" else (5 + length) / 6
    return float(base**settings.length_penalty_alpha)


class GenerateSettings(Settings):
    """Text generation with a causal language model."""

    max_new_tokens: int = Field(100, ge=1)
    """Maximum number of new tokens, EOS included."""
    temperature: float = Field(1.0, ge=0)
    """Sampling temperature, the divisor of the logits: below 1 sharpens, above 1 flattens; 0: greedy search."""
    top_k: int | None = Field(None, ge=1)
    """Sample from the k most probable tokens (top-k)."""
    top_p: float | None = Field(None, gt=0, le=1)
    """Sample from the smallest set of tokens whose probability sums to p (top-p, nucleus sampling)."""
    min_p: float | None = Field(None, gt=0, le=1)
    """Sample from tokens with at least this fraction of the most probable token's probability (min-p)."""
    num_samples: int = Field(1, ge=1, le=256)
    """Sampled continuations of each prompt."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Seed of sampling; together with prompt number, sample and step it determines every sampled token."""
    repetition_penalty: float = Field(1.0, ge=1, le=1e6)
    """Factor on the log probability of tokens of the prompt or already generated; 1: no penalty."""
    no_repeat_ngram_size: int = Field(0, ge=0)
    """Size of the n-grams, of the prompt too, that may not be generated again; 0: no restriction."""
    min_new_tokens: int = Field(0, ge=0)
    """Minimum number of new tokens, EOS included; EOS is suppressed until then."""
    stop: tuple[str, ...] = ()
    """Stop strings: generation ends before the first of them."""
    context_window: int | Literal["trained"] | None = None
    """Context window in tokens, or trained (default: the model's maximum); when full, its newest half is kept."""
    add_bos: bool = True
    """Prepend a document boundary (EOS, as in training) to a prompt; an empty prompt always has one."""

    @field_validator("context_window", mode="before")
    @classmethod
    def _is_a_number_or_trained(cls, value: Any) -> Any:
        if isinstance(value, str) and value != "trained":
            raise ValueError(f'"{value}" is neither a number of tokens nor "trained".')
        return value

    @model_validator(mode="after")
    def _fit_together(self) -> "GenerateSettings":
        for name in TEXT_SAMPLING_ONLY if self.temperature == 0 else ():
            value = getattr(self, name)
            if value != type(self).model_fields[name].default:
                raise ValueError(f"{name}: {value} applies to sampling only; set temperature above 0, or omit it.")
        if self.min_new_tokens > self.max_new_tokens:
            raise ValueError(
                f"min_new_tokens: {self.min_new_tokens} is more than max_new_tokens {self.max_new_tokens}."
            )
        if "" in self.stop:
            raise ValueError('stop: "" matches everywhere; give a non-empty string, or omit it.')
        if isinstance(self.context_window, int) and self.context_window < 1:
            raise ValueError(
                f"context_window: {self.context_window} is out of range, it must be greater than or equal to 1."
            )
        return self
