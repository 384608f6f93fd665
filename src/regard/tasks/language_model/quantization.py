"""Which weights a language model multiplies by, and what rounded ones cost."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import torch
from torch import nn

from regard.errors import ConfigError
from regard.nn.inference.int8 import can_multiply_int8, drop_int8, quantize_int8

QUANTIZE = ("none", "int8")


def check_quantize(quantize: str, device: torch.device, precision: str) -> None:
    """Refuse weights that nobody knows, and int8 where there is no product with them."""
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
    """Let a model multiply by these weights from now on."""
    first = next(model.parameters())
    check_quantize(quantize, first.device, "fp32" if first.dtype == torch.float32 else str(first.dtype))
    if quantize == "int8":
        quantize_int8(model)
    else:
        drop_int8(model)


@dataclass(frozen=True)
class WeightsCost:
    """The perplexity of a text with a model's own weights, and with those it holds instead."""

    tokens: int
    full_perplexity: float
    perplexity: float
    error: float
    """The standard error of `change`, from how much the tokens differ in it."""

    @property
    def change(self) -> float:
        """How much more perplexity it is, as a share."""
        return self.perplexity / self.full_perplexity - 1

    def plain(self) -> dict[str, float]:
        """Return everything as plain values."""
        return asdict(self) | {"change": self.change}

    def __str__(self) -> str:
        return (
            f"int8 weights: perplexity {self.perplexity:.4f}, with full weights {self.full_perplexity:.4f}: "
            f"{self.change:+.3%} (± {self.error:.3%}) over {self.tokens:,} tokens"
        )


def weights_cost(full: Sequence[Sequence[float]], held: Sequence[Sequence[float]]) -> WeightsCost:
    """Return the cost by the log probabilities of the same texts, token by token, with both weights."""
    own = [value for text in full for value in text]
    rounded = [value for text in held for value in text]
    count = len(own)
    if not count:
        raise ConfigError("quantize: there are no tokens to measure their cost on; give a text.")
    surprise = -math.fsum(own) / count
    more = [before - after for before, after in zip(own, rounded, strict=True)]
    mean = math.fsum(more) / count
    spread = math.fsum((each - mean) ** 2 for each in more)
    error = math.sqrt(spread / (count - 1) / count) if count > 1 else math.inf
    perplexity = math.exp(min(surprise, 700.0))
    return WeightsCost(count, perplexity, perplexity * math.exp(mean), math.exp(mean) * error)
