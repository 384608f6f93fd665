"""Words as their letters: a tokenizer whose tokens are bytes, each word of a text behind a mark of its own."""

from collections.abc import Sequence
from functools import cache

from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, normalizers, pre_tokenizers

from regard.text.native_errors import explaining
from regard.text.tokenizer import SPECIAL_TOKENS, Tokenizer

SPACE = len(SPECIAL_TOKENS)
"""The token that stands before the bytes of a word; special tokens have the numbers before it."""

BEGINNINGS = SPACE + 1
"""Tokens with lower numbers begin a word: the mark of a space, and special tokens, which are words of their own."""

BYTES = 256


@cache
def byte_order() -> tuple[int, ...]:
    """Return the byte that each token from `SPACE` on stands for; a space marks where a word begins."""
    return (32, *(byte for byte in range(BYTES) if byte != 32))


def spelling_tokenizer(lowercase: bool = False) -> Tokenizer:
    """Return a tokenizer that spells the words of a text: what white space and punctuation part, byte by byte."""
    names = _names()
    pieces = [*SPECIAL_TOKENS, *(names[byte] for byte in byte_order())]
    backend = Backend(models.BPE(vocab={piece: number for number, piece in enumerate(pieces)}, merges=[]))
    backend.add_special_tokens(list(SPECIAL_TOKENS))
    steps: list[normalizers.Normalizer] = [normalizers.NFC(), *([normalizers.Lowercase()] if lowercase else [])]
    backend.normalizer = normalizers.Sequence(steps)
    spelled = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    backend.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), spelled])
    backend.decoder = decoders.ByteLevel()
    return Tokenizer(backend)


def word_tokenizer(words: Sequence[str], lowercase: bool = False) -> Tokenizer:
    """Return a tokenizer of whole words, numbered in the order given behind the special tokens."""
    numbers = {piece: number for number, piece in enumerate([*SPECIAL_TOKENS, *words])}
    backend = Backend(models.WordLevel(numbers, unk_token=SPECIAL_TOKENS[1]))
    backend.add_special_tokens(list(SPECIAL_TOKENS))
    backend.normalizer = normalizers.Sequence([normalizers.NFC(), *([normalizers.Lowercase()] if lowercase else [])])
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return Tokenizer(backend)


def words_of(texts: Sequence[str], reader: Tokenizer) -> list[str]:
    """Return the words of texts as these tokenizers tell them apart, their letters folded as `reader` folds them."""
    fold, part = reader.backend.normalizer.normalize_str, pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    with explaining("This text cannot be parted into words", texts):
        return [word for text in texts for word, _ in part(fold(text))]


def _names() -> list[str]:
    """Return the letter that the library writes for each byte (Radford et al., 2019): itself, where it is seen."""
    visible = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    hidden = [byte for byte in range(BYTES) if byte not in visible]
    return [chr(byte) if byte in visible else chr(BYTES + hidden.index(byte)) for byte in range(BYTES)]
