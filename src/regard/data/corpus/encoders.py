"""Encoders of documents: chunks of text to token ids."""

from collections.abc import Sequence
from typing import Any, Protocol

from regard.data.sources.documents import DocumentChunk
from regard.text.tokenizer import Tokenizer


class DocumentEncoder(Protocol):
    """Encodes chunks as token ids."""

    tokenizer: Tokenizer
    reading: dict[str, Any]
    """Settings, besides the tokenizer, that shards must have been made with to be reused."""

    def __call__(self, chunks: Sequence[DocumentChunk]) -> list[list[int]]:
        """Return the ids of each chunk; the last of a document ends with EOS."""


class ChunkEncoder:
    """Encodes text, with EOS after each document."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.reading: dict[str, Any] = {}

    def __call__(self, chunks: Sequence[DocumentChunk]) -> list[list[int]]:
        """Return the ids of each chunk; the last of a document ends with EOS."""
        rows = self.tokenizer.encode_batch([chunk.text for chunk in chunks])
        return [
            [*ids, self.tokenizer.eos_id] if chunk.is_last else ids for chunk, ids in zip(chunks, rows, strict=True)
        ]
