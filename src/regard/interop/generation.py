"""Decoding defaults as `generate` knows them, and back."""

from typing import Any

from regard.decoding import DecodeSettings
from regard.progress import Progress
from regard.text import Tokenizer

HANDLED = {"beams", "length_penalty", "length_alpha", "max_length_ratio", "max_length_extra"}
"""Settings that have their counterpart below; another one that is not at its default is told to be lost."""


def generation_config(
    decode: dict[str, Any], tokenizer: Tokenizer, positions: int, progress: Progress
) -> dict[str, Any]:
    """Return the generation_config.json that makes `generate` search as regard does; what it cannot is said."""
    settings = DecodeSettings(**decode)
    lost = [name for name, value in settings if name not in HANDLED and value != getattr(DecodeSettings(), name)]
    if settings.length_penalty == "gnmt":
        lost.append("length_penalty")
    for name in lost:
        progress.warn(
            f"decode.{name}: {getattr(settings, name)} is not written, generate() has no such setting here."
        )
    return {
        "num_beams": settings.beams,
        "length_penalty": settings.length_alpha if settings.length_penalty == "average" else 0.0,
        "early_stopping": False,
        "max_length": positions,
        **special_tokens(tokenizer),
        # What regard never says; the probabilities of the other tokens stay as they are.
        "suppress_tokens": sorted((tokenizer.padding, tokenizer.unknown, tokenizer.start)),
    }


def special_tokens(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the special tokens of a target by their names in a config."""
    return {
        "pad_token_id": tokenizer.padding,
        "bos_token_id": tokenizer.start,
        "eos_token_id": tokenizer.end,
        "decoder_start_token_id": tokenizer.start,
    }


def decoding_of(generation: dict[str, Any]) -> dict[str, Any]:
    """Return our decoding settings for a generation_config.json (or an old config.json that holds the same)."""
    found: dict[str, Any] = {"beams": generation.get("num_beams") or 1}
    alpha = generation.get("length_penalty")
    if alpha is not None and alpha <= 0:
        return found | {"length_penalty": "none"}
    return found | {"length_penalty": "average", "length_alpha": 1.0 if alpha is None else float(alpha)}
