"""Weight quantization of a language model, and its cost in perplexity."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import torch
from torch import nn

from regard.errors import ConfigError
from regard.nn.inference.int8 import can_multiply_int8, drop_int8, quantize_int8

QUANTIZE = ("none", "int8")


def check_quantize(quantize: str, device: torch.device, precision: str) -> None:
    """Refuse an unknown quantization, and int8 where the device or precision has no int8 matrix product."""
    if quantize not in QUANTIZE:
        raise ConfigError(f'quantize: "{quantize}" is not one of {", ".join(QUANTIZE)}.')
    if quantize == "none":
        return
    if device.type != "cpu":
        raise ConfigError(
            f"quantize: int8 weights are for a CPU, and this model is on {device.type}; leave them out, or choose "
            f"the device cpu."
        )
    if precision != "fp32":
        raise ConfigError(
            f"quantize: int8 weights go with the precision fp32, not {precision}; leave one of them out."
        )
    if not can_multiply_int8():
        raise ConfigError(
            "quantize: this build of torch cannot multiply int8 weights on this machine; leave them out."
        )


def use_quantized(model: nn.Module, quantize: str) -> None:
    """Quantize the weights of a model, or restore its own ones."""
    first = next(model.parameters())
    check_quantize(quantize, first.device, "fp32" if first.dtype == torch.float32 else str(first.dtype))
    if quantize == "int8":
        quantize_int8(model)
    else:
        drop_int8(model)


@dataclass(frozen=True)
class WeightsCost:
    """The perplexity of a text with the full weights, and with the quantized ones."""

    tokens: int
    full_perplexity: float
    perplexity: float
    error: float
    """Standard error of `change` over the tokens."""

    @property
    def change(self) -> float:
        """Relative increase in perplexity."""
        return self.perplexity / self.full_perplexity - 1

    def plain(self) -> dict[str, float]:
        """Return everything as plain values."""
        return asdict(self) | {"change": self.change}

    def __str__(self) -> str:
        return (
            f"int8 weights: perplexity {self.perplexity:.4f}, with full weights {self.full_perplexity:.4f}: "
            f"{self.change:+.3%} (± {self.error:.3%}) over {self.tokens:,} tokens"
        )


def weights_cost(full: Sequence[Sequence[float]], quantized: Sequence[Sequence[float]]) -> WeightsCost:
    """Return the cost from the log probabilities of the same tokens with the full and the quantized weights."""
    before = [value for text in full for value in text]
    after = [value for text in quantized for value in text]
    count = len(before)
    if not count:
        raise ConfigError("quantize: there are no tokens to measure the cost on; give a text.")
    nll = -math.fsum(before) / count
    increases = [one - other for one, other in zip(before, after, strict=True)]
    mean = math.fsum(increases) / count
    squares = math.fsum((each - mean) ** 2 for each in increases)
    error = math.sqrt(squares / (count - 1) / count) if count > 1 else math.inf
    perplexity = math.exp(min(nll, 700.0))
    return WeightsCost(count, perplexity, perplexity * math.exp(mean), math.exp(mean) * error)
