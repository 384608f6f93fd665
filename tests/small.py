"""Small models and random tokens for tests."""

import torch

from regard.models import Vocabularies
from regard.models.transformer import Transformer, TransformerSettings

VOCABULARY = 40


def small_settings(**changes) -> TransformerSettings:
    base = {"width": 16, "heads": 4, "feed_forward_width": 32, "encoder_layers": 2, "decoder_layers": 2}
    return TransformerSettings(**(base | changes))


def small_transformer(seed: int = 0, **changes) -> Transformer:
    """Return a small model whose outputs are far from uniform, so that comparisons mean something."""
    torch.manual_seed(seed)
    model = Transformer(small_settings(**changes), Vocabularies(VOCABULARY, VOCABULARY, True))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()


def random_tokens(rows: int, length: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(4, VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(seed))
