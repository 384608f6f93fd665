"""A tokenizer: one `tokenizer.json` that holds all preprocessing, and the ids of its special tokens."""

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
"""What BERT calls them: texts begin with [CLS] and end with [SEP], and [MASK] stands for a word to be found."""
END_OF_TEXT = "<|endoftext|>"
"""The only special token of GPT-2's: where a tokenizer has it, it does the work of those that are missing."""
LARGEST_ID = 2**24
"""Ids are below this: tables are made that have a row for each, used or not."""
PROBE = "a b\u00e9 \U0001f642."
"""A text that a tokenizer must be able to encode and decode before anything is asked of it."""


@dataclass(frozen=True)
class Encoding:
    """Token ids of a text, the pieces they stand for, and where each lies in the text (start, end)."""

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]


class Tokenizer:
    """Text to ids and ids to text; special tokens are never found *in* a text, only put around it."""

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        self.backend = backend
        # A line that happens to hold "</s>" must not end a sentence.
        backend.encode_special_tokens = True
        # A ready-made tokenizer may have been saved with a batch's length, and would cut every text there.
        backend.no_truncation()
        backend.no_padding()
        names = zip(SPECIAL_TOKENS, BERT_TOKENS)
        self.pad_id, self.unk_id, self.bos_id, self.eos_id = (self._special(*each) for each in names)
        self.mask_id: int | None = backend.token_to_id(MASK)
        """The token that stands for a word to be found, where there is one."""
        masks = () if self.mask_id is None else (self.mask_id,)
        self.specials = frozenset((self.pad_id, self.unk_id, self.bos_id, self.eos_id, *masks))

    def _special(self, token: str, otherwise: str) -> int:
        for name in (token, otherwise, END_OF_TEXT):
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
        """Return the tokenizer that the contents of a tokenizer.json describe; `name` says where they are from."""
        try:
            definition = parse_json(text)  # the library may overflow the stack where nesting is deep enough
        except ParseError as reason:
            raise DataError(f"{name}: this is not a tokenizer.json ({reason}).") from None
        way_out = "copy it again, or let regard train one"
        with explaining(f"{name}: this is not a tokenizer.json", way_out=way_out), silent_panics():
            backend = tokenizers.Tokenizer.from_str(text)
        _check_unknown(definition["model"], backend, name)
        _check_ids(backend, name)
        found = cls(backend)
        with explaining(f"{name}: this tokenizer cannot be used", way_out=way_out), silent_panics():
            backend.decode_batch([backend.encode(PROBE, add_special_tokens=False).ids])
        return found

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
        """Return a tokenizer that knows these special tokens too, numbered behind all others."""
        grown = tokenizers.Tokenizer.from_str(self.to_json())
        grown.add_special_tokens(list(tokens))
        return Tokenizer(grown)

    def has(self, token: str) -> bool:
        """Tell whether there is a token of that name."""
        return self.backend.token_to_id(token) is not None

    def token_id(self, token: str) -> int:
        """Return the id of a special token of a task."""
        found = self.backend.token_to_id(token)
        if found is None:
            raise DataError(f"The tokenizer has no {token} token, so it cannot be used for this task.")
        return int(found)

    @property
    def size(self) -> int:
        """How many tokens the vocabulary has."""
        return int(self.backend.get_vocab_size())

    @property
    def id_limit(self) -> int:
        """The number behind the highest id: more than `size` where ids have gaps."""
        return 1 + max(self.backend.get_vocab(with_added_tokens=True).values())

    @property
    def suppressed_ids(self) -> tuple[int, ...]:
        """The special tokens that no output holds: all but the end, whatever other work that does."""
        return tuple(sorted(self.specials - {self.eos_id}))

    @cached_property
    def vocabulary(self) -> dict[int, str]:
        """The piece of each id, special tokens left out."""
        pieces = self.backend.get_vocab(with_added_tokens=True)
        return {number: piece for piece, number in pieces.items() if number not in self.specials}

    @property
    def kind(self) -> str:
        """The name of the model inside, as `tokenizers` calls it."""
        return type(self.backend.model).__name__

    def encode(self, text: str) -> Encoding:
        """Return the ids of a text, without start and end."""
        with self._explaining([text]):
            encoding = self.backend.encode(text, add_special_tokens=False)
        return Encoding(encoding.ids, encoding.tokens, encoding.offsets)

    def encode_with_offsets(self, texts: Sequence[str]) -> list[Encoding]:
        """Return the ids of many texts and where they lie, on all cores."""
        with self._explaining(texts):
            found = self.backend.encode_batch(texts, add_special_tokens=False)
        return [Encoding(each.ids, each.tokens, each.offsets) for each in found]

    def encode_words(self, sentences: Sequence[Sequence[str]]) -> list[list[list[int]]]:
        """Return the ids of each word of sentences that come as words; a word without any is unknown."""
        with self._explaining(word for sentence in sentences for word in sentence):
            found = self.backend.encode_batch(sentences, is_pretokenized=True, add_special_tokens=False)
        words: list[list[list[int]]] = [[[] for _ in sentence] for sentence in sentences]
        for pieces, encoding in zip(words, found, strict=True):
            for number, word in zip(encoding.ids, encoding.word_ids, strict=True):
                if word is not None:
                    pieces[word].append(number)
        return [[piece or [self.unk_id] for piece in pieces] for pieces in words]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many texts, on all cores."""
        with self._explaining(texts):
            found = self.backend.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in found]

    def words(self, text: str) -> list[str]:
        """Return the stretches of a text that are cut into pieces one by one."""
        splitter = self.backend.pre_tokenizer
        with self._explaining([text]):
            normal = self.backend.normalizer.normalize_str(text) if self.backend.normalizer else text
            return [normal] if splitter is None else [word for word, _ in splitter.pre_tokenize_str(normal)]

    def word_ids(self, word: str) -> list[int]:
        """Return the ids of the pieces of such a stretch."""
        with self._explaining([word]):
            return [token.id for token in self.backend.model.tokenize(word)]

    @staticmethod
    def _explaining(texts: Iterable[object] = ()) -> AbstractContextManager[None]:
        return explaining("The tokenizer fails on this text", texts)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids; padding, start and end leave no trace, an unknown piece shows as ⁇."""
        return self.decode_batch([ids])[0]

    def decode_batch(self, rows: Iterable[Iterable[int]]) -> list[str]:
        """Return the texts of many rows of ids, on all cores."""
        hidden = {self.pad_id, self.bos_id, self.eos_id}
        kept = [[number for number in ids if number not in hidden] for ids in rows]
        with explaining("The tokenizer fails on these ids"):
            texts = self.backend.decode_batch(kept, skip_special_tokens=False)
        unknown = self._pieces[self.unk_id]
        return [
            text.replace(unknown, "⁇") if self.unk_id in ids else text for text, ids in zip(texts, kept, strict=True)
        ]

    @cached_property
    def _pieces(self) -> list[str]:
        numbers = self.backend.get_vocab(with_added_tokens=True)
        pieces = [UNKNOWN] * (1 + max(numbers.values()))
        for piece, number in numbers.items():
            pieces[number] = piece
        return pieces

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Return the piece each id stands for."""
        return list(map(self._pieces.__getitem__, ids))


def _check_unknown(definition: dict[str, Any], backend: tokenizers.Tokenizer, name: str) -> None:
    """Refuse a tokenizer that would fail at the first piece it does not know."""
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
    for piece, number in backend.get_vocab(with_added_tokens=True).items():
        if number >= LARGEST_ID:
            raise DataError(f'{name}: the id of "{piece}" is {number:,}, and ids are below {LARGEST_ID:,}.')
