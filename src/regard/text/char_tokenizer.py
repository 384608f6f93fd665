"""Character tokenizer of ELMo: words are spelled in bytes, each word preceded by a space token."""

from collections.abc import Sequence
from functools import cache

from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, normalizers, pre_tokenizers

from regard.text.native_errors import explaining
from regard.text.tokenizer import SPECIAL_TOKENS, Tokenizer

SPACE = len(SPECIAL_TOKENS)
"""Id of the token that precedes the bytes of a word; special tokens have lower ids."""

WORD_START_LIMIT = SPACE + 1
"""Tokens with lower ids begin a word: the space token, and special tokens, which are words of their own."""

BYTES = 256


@cache
def byte_order() -> tuple[int, ...]:
    """Return the byte of each token from `SPACE` on; a space marks the start of a word."""
    return (32, *(byte for byte in range(BYTES) if byte != 32))


def spelling_tokenizer(lowercase: bool = False) -> Tokenizer:
    """Return a tokenizer that splits a text at white space and punctuation and spells each word in bytes."""
    characters = _byte_characters()
    tokens = [*SPECIAL_TOKENS, *(characters[byte] for byte in byte_order())]
    backend = Backend(models.BPE(vocab={token: number for number, token in enumerate(tokens)}, merges=[]))
    backend.add_special_tokens(list(SPECIAL_TOKENS))
    steps: list[normalizers.Normalizer] = [normalizers.NFC(), *([normalizers.Lowercase()] if lowercase else [])]
    backend.normalizer = normalizers.Sequence(steps)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    backend.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), byte_level])
    backend.decoder = decoders.ByteLevel()
    return Tokenizer(backend)


def word_tokenizer(words: Sequence[str], lowercase: bool = False) -> Tokenizer:
    """Return a tokenizer of whole words; ids follow the given order, after the special tokens."""
    ids = {token: number for number, token in enumerate([*SPECIAL_TOKENS, *words])}
    backend = Backend(models.WordLevel(ids, unk_token=SPECIAL_TOKENS[1]))
    backend.add_special_tokens(list(SPECIAL_TOKENS))
    backend.normalizer = normalizers.Sequence([normalizers.NFC(), *([normalizers.Lowercase()] if lowercase else [])])
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return Tokenizer(backend)


def words_of(texts: Sequence[str], reader: Tokenizer) -> list[str]:
    """Return the words of texts as these tokenizers split them, normalized (lowercased) as by `reader`."""
    normalize, split = reader.backend.normalizer.normalize_str, pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    with explaining("This text cannot be split into words", texts):
        return [word for text in texts for word, _ in split(normalize(text))]


def _byte_characters() -> list[str]:
    """Return the character that byte-level BPE writes for each byte (Radford et al., 2019): itself if printable."""
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = [byte for byte in range(BYTES) if byte not in printable]
    return [chr(byte) if byte in printable else chr(BYTES + others.index(byte)) for byte in range(BYTES)]
