"""Untrained translators with their tokenizers, for tests of files."""

import torch

from regard.checkpoint.bundle import Bundle
from regard.models.base.settings import Vocabularies
from regard.models.transformer.model import Transformer
from regard.text.tokenizer import Tokenizer
from small import small_settings


def small_bundle(tokenizers: dict[str, Tokenizer], decode: dict | None = None, **changes) -> Bundle:
    """Return a small translator whose outputs are far from uniform, ready to be written."""
    is_shared = "tokenizer" in tokenizers
    source, target = (tokenizers["tokenizer" if is_shared else side] for side in ("source", "target"))
    vocabularies, settings = Vocabularies(source.size, target.size, is_shared), small_settings(**changes)
    torch.manual_seed(1)
    model = Transformer(settings, vocabularies)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return Bundle("translate", model.eval(), settings, vocabularies, tokenizers, {"decode": decode or {}})
