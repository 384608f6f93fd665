"""Small models and random tokens for tests."""

import numpy as np
import torch

from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences
from regard.decoding.generate import generate
from regard.decoding.session import GenerationJob
from regard.decoding.steppers.interface import Request, SpecialTokens
from regard.models.base.settings import Vocabularies
from regard.models.transformer.mask_predict import MaskPredict, MaskPredictSettings
from regard.models.transformer.model import Transformer, TransformerSettings

VOCABULARY = 40
ENDS = SpecialTokens(bos_id=2, eos_id=3, never=(0, 1, 2))


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


def requests_of(source, token_mask, settings, prefixes=None, lines=None, bound=None):
    """Return the requests of padded sources."""
    requests = []
    for row, ids in enumerate(source):
        known = ids[token_mask[row]].tolist()
        prefix = prefixes[row] if prefixes else None
        limit = getattr(settings, "limit", lambda *_: 0)(len(known), bound, len(prefix.choices) if prefix else 0)
        requests.append(Request(known, limit, row if lines is None else lines[row], prefix))
    return requests


def decode(models, source, token_mask, ends, settings, prefixes=None, lines=None):
    """Return the hypotheses of padded sources."""
    models = models if isinstance(models, list) else [models]
    bound = min((model.max_positions for model in models if model.max_positions is not None), default=None)
    requests = requests_of(source, token_mask, settings, prefixes, lines, bound)
    return generate(GenerationJob(models, ends, settings), requests)


def random_pairs(count: int = 200) -> EncodedPairs:
    """Return random sentences and their reverses."""
    draw = np.random.default_rng(0)
    rows = [draw.integers(4, VOCABULARY, draw.integers(2, 12)).tolist() for _ in range(count)]
    return EncodedPairs(
        Sequences.of([[*row, 3] for row in rows]), Sequences.of([[*row[::-1], 3] for row in rows]), 0, 0, 2
    )


def sources(lengths, seed=0):
    """Return padded sources of these lengths, and where they are real."""
    tokens = random_tokens(len(lengths), max(lengths), seed)
    token_mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return tokens, token_mask


def log_probability(model, source, ids, is_finished=True):
    """Score ids by one forward pass over all of them."""
    said = [*ids, ENDS.eos_id] if is_finished else list(ids)
    target = torch.tensor([[ENDS.bos_id, *said[:-1]]])
    with torch.no_grad():
        logits = model(source[None], torch.ones(1, len(source), dtype=torch.bool), target)[0]
    return logits.log_softmax(-1)[range(len(said)), said].sum().item()


def ending_model(seed=1, **changes):
    """A model whose outputs vary, and end at different times or not at all."""
    model = small_transformer(seed, embeddings="separate", norm_order="res-post", **changes)
    with torch.no_grad():
        model.head.weight.mul_(0.6)
        model.head.weight[ENDS.eos_id].mul_(2)
    return model


def small_mask_predict(seed: int = 0, **changes) -> MaskPredict:
    """Return a small model that fills in words, whose outputs are far from uniform and of many lengths."""
    base = {"width": 16, "heads": 4, "feed_forward_width": 32, "encoder_layers": 2, "decoder_layers": 2}
    torch.manual_seed(seed)
    settings = MaskPredictSettings(**(base | {"embeddings": "separate", "max_length_offset": 5} | changes))
    model = MaskPredict(settings, Vocabularies(VOCABULARY, VOCABULARY, True))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()
