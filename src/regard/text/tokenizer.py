"""A tokenizer: one `tokenizer.json` with all preprocessing, and the ids of its special tokens."""

import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import models

from regard.config.parsing import ParseError, parse_json
from regard.config.records import read_text_file
from regard.errors import DataError
from regard.text.native_errors import explaining, silent_panics

PADDING, UNKNOWN, START, END = SPECIAL_TOKENS = ("<pad>", "<unk>", "<s>", "</s>")
MASK = "[MASK]"
BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", MASK)
"""BERT's special tokens: texts begin with [CLS] and end with [SEP]; [MASK] replaces a token to predict."""
END_OF_TEXT = "<|endoftext|>"
"""The only special token of GPT-2: a tokenizer that has it uses it for every missing special token."""
LARGEST_ID = 2**24
"""Upper bound of ids: embedding matrices have a row for each id, used or not."""
PROBE = "a b\u00e9 \U0001f642."
"""A text that every loaded tokenizer must encode and decode without an error."""


@dataclass(frozen=True)
class Encoding:
    """Token ids of a text, their tokens, and the character offsets (start, end) of each."""

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]


class Tokenizer:
    """Text to ids and ids to text; special tokens are never parsed *in* a text, only added around it."""

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        self.backend = backend
        # A line that contains "</s>" must not end a sentence.
        backend.encode_special_tokens = True
        # An existing tokenizer may have been saved with truncation or padding to a batch's length.
        backend.no_truncation()
        backend.no_padding()
        names = zip(SPECIAL_TOKENS, BERT_TOKENS)
        self.pad_id, self.unk_id, self.bos_id, self.eos_id = (self._special(*each) for each in names)
        self.mask_id: int | None = backend.token_to_id(MASK)
        """The id of the mask token, None if there is none."""
        masks = () if self.mask_id is None else (self.mask_id,)
        self.specials = frozenset((self.pad_id, self.unk_id, self.bos_id, self.eos_id, *masks))

    def _special(self, token: str, alternative: str) -> int:
        for name in (token, alternative, END_OF_TEXT):
            number = self.backend.token_to_id(name)
            if number is not None:
                return int(number)
        raise DataError(f"The tokenizer has no {token} token, so it cannot be used for sequences.")

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read a tokenizer.json."""
        try:
            return cls.parse(read_text_file(path, DataError, "a tokenizer.json"), str(path))
        except FileNotFoundError:
            raise DataError(f"{path}: there is no tokenizer file here; check the path.") from None

    @classmethod
    def parse(cls, text: str, name: str) -> "Tokenizer":
        """Return the tokenizer that the contents of a tokenizer.json define; errors begin with `name`."""
        try:
            definition = parse_json(text)  # the library may overflow the stack where nesting is deep enough
        except ParseError as reason:
            raise DataError(f"{name}: this is not a tokenizer.json ({reason}).") from None
        way_out = "copy it again, or let regard train one"
        with explaining(f"{name}: this is not a tokenizer.json", way_out=way_out), silent_panics():
            backend = tokenizers.Tokenizer.from_str(text)
        _check_unknown(definition["model"], backend, name)
        _check_ids(backend, name)
        tokenizer = cls(backend)
        with explaining(f"{name}: this tokenizer cannot be used", way_out=way_out), silent_panics():
            backend.decode_batch([backend.encode(PROBE, add_special_tokens=False).ids])
        return tokenizer

    def to_json(self) -> str:
        """Return the contents of its tokenizer.json."""
        return str(self.backend.to_str(pretty=True))

    def save(self, path: Path) -> None:
        """Write a tokenizer.json."""
        try:
            path.write_text(self.to_json(), encoding="utf-8")
        except OSError as error:
            raise DataError(f"{path}: the tokenizer cannot be written ({error.strerror}).") from None

    def with_special(self, tokens: Sequence[str]) -> "Tokenizer":
        """Return a tokenizer with these special tokens added, their ids after all others."""
        grown = tokenizers.Tokenizer.from_str(self.to_json())
        grown.add_special_tokens(list(tokens))
        return Tokenizer(grown)

    def has(self, token: str) -> bool:
        """Return True if the vocabulary has this token."""
        return self.backend.token_to_id(token) is not None

    def token_id(self, token: str) -> int:
        """Return the id of a special token of a task."""
        number = self.backend.token_to_id(token)
        if number is None:
            raise DataError(f"The tokenizer has no {token} token, so it cannot be used for this task.")
        return int(number)

    @property
    def size(self) -> int:
        """The number of tokens in the vocabulary."""
        return int(self.backend.get_vocab_size())

    @property
    def id_limit(self) -> int:
        """The highest id plus 1: more than `size` if ids have gaps."""
        return 1 + max(self.backend.get_vocab(with_added_tokens=True).values())

    @property
    def suppressed_ids(self) -> tuple[int, ...]:
        """The special tokens that are never generated: all but EOS, even if that is also BOS or padding."""
        return tuple(sorted(self.specials - {self.eos_id}))

    @cached_property
    def vocabulary(self) -> dict[int, str]:
        """The token of each id, without special tokens."""
        ids = self.backend.get_vocab(with_added_tokens=True)
        return {number: token for token, number in ids.items() if number not in self.specials}

    @property
    def kind(self) -> str:
        """The class name of the `tokenizers` model, e.g. "BPE"."""
        return type(self.backend.model).__name__

    def encode(self, text: str) -> Encoding:
        """Return the encoding of a text, without BOS and EOS."""
        with self._explaining([text]):
            encoding = self.backend.encode(text, add_special_tokens=False)
        return Encoding(encoding.ids, encoding.tokens, encoding.offsets)

    @cached_property
    def _special_pattern(self) -> re.Pattern[str]:
        """Matches the special tokens, the longest first."""
        added = self.backend.get_added_tokens_decoder().values()
        names = {each.content for each in added if each.special} | set(self.tokens(self.specials))
        return re.compile("(" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + ")")

    def split_special(self, text: str) -> list[tuple[str, int | None]]:
        """Return the parts of a text, each with the id of the special token that follows it (None: at the end)."""
        parts = self._special_pattern.split(text)
        ids = [self.token_id(name) for name in parts[1::2]]
        return list(zip(parts[::2], [*ids, None], strict=True))

    def encode_with_offsets(self, texts: Sequence[str]) -> list[Encoding]:
        """Return the encodings of many texts with offsets, on all cores."""
        with self._explaining(texts):
            encodings = self.backend.encode_batch(texts, add_special_tokens=False)
        return [Encoding(each.ids, each.tokens, each.offsets) for each in encodings]

    def encode_words(self, sentences: Sequence[Sequence[str]]) -> list[list[list[int]]]:
        """Return the ids of each word of pre-tokenized sentences; a word without any becomes the unknown token."""
        with self._explaining(word for sentence in sentences for word in sentence):
            encodings = self.backend.encode_batch(sentences, is_pretokenized=True, add_special_tokens=False)
        words: list[list[list[int]]] = [[[] for _ in sentence] for sentence in sentences]
        for sentence_ids, encoding in zip(words, encodings, strict=True):
            for number, word in zip(encoding.ids, encoding.word_ids, strict=True):
                if word is not None:
                    sentence_ids[word].append(number)
        return [[ids or [self.unk_id] for ids in sentence_ids] for sentence_ids in words]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many texts, on all cores."""
        with self._explaining(texts):
            encodings = self.backend.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def words(self, text: str) -> list[str]:
        """Return the pre-tokenized words of a text, normalized."""
        splitter = self.backend.pre_tokenizer
        with self._explaining([text]):
            normal = self.backend.normalizer.normalize_str(text) if self.backend.normalizer else text
            return [normal] if splitter is None else [word for word, _ in splitter.pre_tokenize_str(normal)]

    def word_ids(self, word: str) -> list[int]:
        """Return the token ids of one such word."""
        with self._explaining([word]):
            return [token.id for token in self.backend.model.tokenize(word)]

    @staticmethod
    def _explaining(texts: Iterable[object] = ()) -> AbstractContextManager[None]:
        return explaining("The tokenizer fails on this text", texts)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids; padding, BOS and EOS are skipped, the unknown token becomes ⁇."""
        return self.decode_batch([ids])[0]

    def decode_batch(self, rows: Iterable[Iterable[int]]) -> list[str]:
        """Return the texts of many rows of ids, on all cores."""
        hidden = {self.pad_id, self.bos_id, self.eos_id}
        kept = [[number for number in ids if number not in hidden] for ids in rows]
        with explaining("The tokenizer fails on these ids"):
            texts = self.backend.decode_batch(kept, skip_special_tokens=False)
        unknown = self._tokens[self.unk_id]
        return [
            text.replace(unknown, "⁇") if self.unk_id in ids else text for text, ids in zip(texts, kept, strict=True)
        ]

    @cached_property
    def _tokens(self) -> list[str]:
        ids = self.backend.get_vocab(with_added_tokens=True)
        tokens = [UNKNOWN] * (1 + max(ids.values()))
        for token, number in ids.items():
            tokens[number] = token
        return tokens

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Return the token of each id."""
        return list(map(self._tokens.__getitem__, ids))


def _check_unknown(definition: dict[str, Any], backend: tokenizers.Tokenizer, name: str) -> None:
    """Refuse a tokenizer that would fail at the first unknown character or word."""
    model = backend.model
    if isinstance(model, models.Unigram):
        if definition.get("unk_id") is None and not definition.get("byte_fallback"):
            raise DataError(f"{name}: its unigram model has no unk_id, so unknown text fails; give it one.")
        return
    unknown = model.unk_token
    is_optional = isinstance(model, models.BPE) and unknown is None
    if not is_optional and model.token_to_id(unknown) is None:
        raise DataError(
            f'{name}: its unk_token "{unknown}" is not in its vocabulary, so unknown text fails; add it there.'
        )


def _check_ids(backend: tokenizers.Tokenizer, name: str) -> None:
    for token, number in backend.get_vocab(with_added_tokens=True).items():
        if number >= LARGEST_ID:
            raise DataError(f'{name}: the id of "{token}" is {number:,}, and ids are below {LARGEST_ID:,}.')
