"""Conversations as token ids; the tokens of answers have labels, those of prompts none."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.encoding.batches import NO_LABEL
from regard.data.encoding.labeled import fingerprint_of
from regard.data.encoding.sequences import Sequences
from regard.data.feeds.windows import IdStream, WindowBatch
from regard.data.sources.chats import Chat
from regard.text.chat_template import ChatTemplate, Message, Pieces
from regard.text.tokenizer import Tokenizer


def piece_ids(pieces: Pieces, tokenizer: Tokenizer) -> list[int]:
    """Return the ids of a part of a conversation; special tokens are recognized in the template's own parts alone."""
    ids, text = list[int](), ""
    for piece in pieces:
        parts = tokenizer.split_special(piece.text) if piece.is_template else [(piece.text, None)]
        for part, special in parts:
            text += part
            if special is not None:
                ids += [*(tokenizer.encode(text).ids if text else []), special]
                text = ""
    return ids + (tokenizer.encode(text).ids if text else [])


def rendered_prompt(
    template: ChatTemplate, messages: Sequence[Message], tokenizer: Tokenizer
) -> tuple[str, list[int]]:
    """Return messages with the beginning of an answer, as text and as ids."""
    eos, bos = tokenizer.tokens([tokenizer.eos_id, tokenizer.bos_id])
    pieces = template.render(messages, eos, bos, is_prompt=True)
    return "".join(piece.text for piece in pieces), piece_ids(pieces, tokenizer)


def chat_ids(template: ChatTemplate, chat: Chat, tokenizer: Tokenizer) -> tuple[list[int], list[bool]]:
    """Return the ids of a conversation up to its last answer, and which of them are of answers, EOS included."""
    ids, answers = list[int](), list[bool]()
    eos, bos = tokenizer.tokens([tokenizer.eos_id, tokenizer.bos_id])
    for turn in template.turns(chat.messages, eos, bos):
        own = piece_ids(turn.pieces, tokenizer)
        last = own.index(tokenizer.eos_id) + 1 if tokenizer.eos_id in own else len(own)
        ids += own
        answers += [turn.is_answer and number < last for number in range(len(own))]
    return ids, answers


@dataclass(frozen=True)
class EncodedChats:
    """Conversations as ids, a row each: no row attends to another."""

    chats: Sequence[Chat]
    sequences: Sequences
    is_label: NDArray[np.bool_]
    """(N,) True for the tokens of answers, of all conversations end to end."""
    is_truncated: NDArray[np.bool_]
    """True for conversations whose end is left out."""

    def __len__(self) -> int:
        return len(self.sequences)

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Source lengths (0) and input lengths of each conversation."""
        lengths = self.sequences.lengths - 1
        return np.zeros_like(lengths), lengths

    @cached_property
    def label_counts(self) -> NDArray[np.int64]:
        """(N,) Tokens of each conversation that have a label."""
        return np.add.reduceat(self.is_label, self.sequences.starts[:-1]).astype(np.int64)

    @cached_property
    def text_hash(self) -> str:
        """The hash of the messages, whatever the tokenizer."""
        return hashlib.sha256(repr([each.messages for each in self.chats]).encode()).hexdigest()

    @property
    def stream(self) -> IdStream:
        """All conversations end to end, as running text."""
        return IdStream(self.sequences.ids.astype(np.int64))

    def fingerprint(self) -> str:
        """Return a hash of all ids and labels."""
        return fingerprint_of(self.sequences.starts, self.sequences.ids, self.is_label)

    def batch(self, rows: NDArray[np.int64]) -> WindowBatch:
        """Return conversations as padded inputs and next tokens; only those of answers are labels."""
        T = int(self.sequences.lengths[rows].max()) - 1
        tokens, labels = np.zeros((len(rows), T), np.int64), np.full((len(rows), T), NO_LABEL, np.int64)
        for number, row in enumerate(rows.tolist()):
            ids = self.sequences[row].astype(np.int64)
            begin = self.sequences.starts[row] + 1
            has_label = self.is_label[begin : begin + len(ids) - 1]
            tokens[number, : len(ids) - 1] = ids[:-1]
            labels[number, : len(ids) - 1] = np.where(has_label, ids[1:], NO_LABEL)
        return WindowBatch(torch.from_numpy(tokens), torch.from_numpy(labels), int((labels != NO_LABEL).sum()))


def encode_chats(chats: Sequence[Chat], template: ChatTemplate, tokenizer: Tokenizer, window: int) -> EncodedChats:
    """Return conversations of at most `window` inputs; those whose first answer lies beyond are left out."""
    kept, sequences, labels, cut = list[Chat](), list[list[int]](), list[bool](), list[bool]()
    for chat in chats:
        ids, answers = chat_ids(template, chat, tokenizer)
        if any(answers[1 : window + 1]):
            kept.append(chat)
            sequences.append(ids[: window + 1])
            labels += answers[: window + 1]
            cut.append(len(ids) > window + 1)
    return EncodedChats(kept, Sequences.of(sequences), np.asarray(labels, bool), np.asarray(cut, bool))
