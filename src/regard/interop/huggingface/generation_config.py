"""Decoding defaults as `generate` knows them, and back."""

from typing import Any

from regard.config.resolve import Layer, resolve
from regard.decoding.settings import DecodeSettings, GenerateSettings
from regard.progress import Progress
from regard.text.tokenizer import Tokenizer

NO_SEARCH, NO_CONTINUATION = "no search that can be made", "no continuation that can be made"
"""What is wrong with defaults that do not fit together."""

DECODER_START = "decoder_start_token_id"

HANDLED = {"beam_size", "length_penalty", "length_penalty_alpha", "max_length_ratio", "max_length_extra"}
"""Settings that have their counterpart below; another one that is not at its default is told to be lost."""


def generation_config(
    decode: dict[str, Any], tokenizer: Tokenizer, positions: int, progress: Progress
) -> dict[str, Any]:
    """Return the generation_config.json that makes `generate` search as regard does; what it cannot is said."""
    settings = resolve(DecodeSettings, [Layer("the checkpoint", decode)]).settings
    lost = [name for name, value in settings if name not in HANDLED and value != getattr(DecodeSettings(), name)]
    if settings.length_penalty == "gnmt":
        lost.append("length_penalty")
    for name in lost:
        progress.warn(
            f"decode.{name}: {getattr(settings, name)} is not written, generate() has no such setting here."
        )
    return {
        "num_beams": settings.beam_size,
        "length_penalty": settings.length_penalty_alpha if settings.length_penalty == "average" else 0.0,
        "early_stopping": False,
        "max_length": positions,
        **special_tokens(tokenizer),
        # What regard never says; the probabilities of the other tokens stay as they are.
        "suppress_tokens": list(tokenizer.suppressed_ids),
    }


def special_tokens(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the special tokens of a target by their names in a config."""
    return {
        "pad_token_id": tokenizer.pad_id,
        "bos_token_id": tokenizer.bos_id,
        "eos_token_id": tokenizer.eos_id,
        DECODER_START: tokenizer.bos_id,
    }


def decoding_of(generation: dict[str, Any]) -> dict[str, Any]:
    """Return our decoding settings for a generation_config.json (or an old config.json that holds the same)."""
    found: dict[str, Any] = {"beam_size": generation.get("num_beams") or 1}
    alpha = generation.get("length_penalty")
    if alpha is not None and alpha <= 0:
        return found | {"length_penalty": "none"}
    return found | {"length_penalty": "average", "length_penalty_alpha": 1.0 if alpha is None else float(alpha)}


DRAWING = {"temperature": "temperature", "top_k": "top_k", "top_p": "top_p", "min_p": "min_p"}
"""Their settings of a draw and ours."""
GOING_ON = {
    "max_new_tokens": "max_new_tokens",
    "min_new_tokens": "min_new_tokens",
    "no_repeat_ngram_size": "no_repeat_ngram_size",
}
"""Their settings of any continuation and ours."""
SAID_ELSEWHERE = {*DRAWING.values(), *GOING_ON.values(), "num_samples", "add_bos"}
"""Settings that have their counterpart; a repetition penalty is of logits there, and of probabilities here."""
CANDIDATES = 50
"""Among how many tokens they draw where nothing is said."""


def language_generation(generate: dict[str, Any], tokenizer: Tokenizer, progress: Progress) -> dict[str, Any]:
    """Return the generation_config.json with which `generate` goes on as regard does; what it cannot is said."""
    settings, default = resolve(GenerateSettings, [Layer("the checkpoint", generate)]).settings, GenerateSettings()
    for name, value in settings:
        if name not in SAID_ELSEWHERE and value != getattr(default, name):
            progress.warn(f"generate.{name}: {value} is not written, generate() has no such setting here.")
    is_drawn = settings.temperature > 0
    found: dict[str, Any] = {"do_sample": is_drawn}
    found |= {theirs: getattr(settings, ours) for theirs, ours in GOING_ON.items() if getattr(settings, ours)}
    if is_drawn:
        told = {theirs: getattr(settings, ours) for theirs, ours in DRAWING.items()}
        found |= {name: value for name, value in told.items() if value is not None}
        found |= {"top_k": settings.top_k or 0, "num_return_sequences": settings.num_samples}
    found |= {name: number for name, number in special_tokens(tokenizer).items() if name != DECODER_START}
    return found | ({"suppress_tokens": list(tokenizer.suppressed_ids)} if tokenizer.suppressed_ids else {})


def generating_of(generation: dict[str, Any]) -> dict[str, Any]:
    """Return our settings for what a generation_config.json says about going on with a text, and nothing else."""
    found = {ours: generation[theirs] for theirs, ours in GOING_ON.items() if generation.get(theirs)}
    if not generation.get("do_sample"):
        return found | ({"temperature": 0.0} if generation.get("do_sample") is False else {})
    found |= {ours: generation[theirs] for theirs, ours in DRAWING.items() if generation.get(theirs)}
    found["top_k"] = generation.get("top_k", CANDIDATES) or None
    samples = generation.get("num_return_sequences") or 1
    return found | ({"num_samples": samples} if samples > 1 else {})
