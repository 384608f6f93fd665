"""Characters to token ids and back, on Hugging Face `tokenizers`; knows nothing of torch."""

from regard.text.dropout import DropoutCorpus, DropoutEncoder
from regard.text.masks import encode_masked, fill_masks
from regard.text.prefix import Prefix, exact_prefix, prefix_ids, prefix_of
from regard.text.settings import (
    CorpusTextSettings,
    MaskedTextSettings,
    TextSettings,
    TokenizerSettings,
    WordTextSettings,
)
from regard.text.spelling import spelling_tokenizer, word_tokenizer
from regard.text.tokenizer import MASK, Encoding, Tokenizer
from regard.text.training import train_tokenizer
from regard.text.writer import Writer, first_stop, text_behind

__all__ = [
    "MASK",
    "CorpusTextSettings",
    "DropoutCorpus",
    "DropoutEncoder",
    "Encoding",
    "MaskedTextSettings",
    "Prefix",
    "TextSettings",
    "Tokenizer",
    "TokenizerSettings",
    "WordTextSettings",
    "Writer",
    "encode_masked",
    "exact_prefix",
    "fill_masks",
    "first_stop",
    "prefix_ids",
    "prefix_of",
    "spelling_tokenizer",
    "text_behind",
    "train_tokenizer",
    "word_tokenizer",
]
