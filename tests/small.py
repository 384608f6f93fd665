"""Small models and random tokens for tests."""

import torch

from regard.checkpoint import Bundle
from regard.models import Vocabularies
from regard.models.transformer import Transformer, TransformerSettings
from regard.text import Tokenizer

VOCABULARY = 40


def small_settings(**changes) -> TransformerSettings:
    base = {"width": 16, "heads": 4, "feed_forward_width": 32, "encoder_layers": 2, "decoder_layers": 2}
    return TransformerSettings(**(base | changes))


def small_transformer(seed: int = 0, **changes) -> Transformer:
    """Return a small model whose outputs are far from uniform, so that comparisons mean something."""
    return _noisy(small_settings(**changes), Vocabularies(VOCABULARY, VOCABULARY, True), seed)


def _noisy(settings: TransformerSettings, vocabularies: Vocabularies, seed: int) -> Transformer:
    torch.manual_seed(seed)
    model = Transformer(settings, vocabularies)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()


def small_bundle(tokenizers: dict[str, Tokenizer], decode: dict | None = None, **changes) -> Bundle:
    """Return an untrained translator with its tokenizers, ready to be written."""
    source, target = (tokenizers.get(side, tokenizers.get("tokenizer")) for side in ("source", "target"))
    vocabularies = Vocabularies(source.size, target.size, source is target and "tokenizer" in tokenizers)
    settings = small_settings(**changes)
    model = _noisy(settings, vocabularies, seed=1)
    return Bundle("translate", model, settings, vocabularies, tokenizers, {"decode": decode or {}})


def random_tokens(rows: int, length: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(4, VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(seed))
