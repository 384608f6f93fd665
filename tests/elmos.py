"""A small untrained ELMo with its byte tokenizer and output vocabulary."""

import torch

from regard.checkpoint.bundle import Bundle
from regard.models.base.settings import Vocabularies
from regard.models.elmo.model import ElmoSettings
from regard.models.families import build_model
from regard.text.char_tokenizer import spelling_tokenizer, word_tokenizer

SMALL = {"width": 8, "cell_width": 12, "filters": ((1, 4), (3, 6)), "highways": 1, "longest_word": 20}


def elmo_bundle(words=("the", "a", "bank", "river", "dog", "cat"), **changes):
    settings = ElmoSettings(**(SMALL | changes))
    tokenizers = {"tokenizer": spelling_tokenizer(), "words": word_tokenizer(words)}
    vocabularies = Vocabularies(tokenizers["tokenizer"].size, tokenizers["words"].size, is_shared=False)
    torch.manual_seed(0)
    model = build_model(settings, vocabularies).eval()
    facts = {"seed": 1, "window": 16, "bytes_per_word": 5.0, "words": len(words)}
    return Bundle("elmo", model, settings, vocabularies, tokenizers, facts)
