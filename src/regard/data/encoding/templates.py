"""Sequence templates: the special tokens around and between the texts of one sequence."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.text.tokenizer import Tokenizer

START, DELIMITER, EXTRACT = FRAME_TOKENS = ("<|start|>", "<|delimiter|>", "<|extract|>")
"""The special tokens added to a language model for fine-tuning (Radford et al., 2018, §3.3)."""


@dataclass(frozen=True)
class SequenceTemplate:
    """The ids of the special tokens before, between and after texts, for an encoder or a causal model."""

    start: int
    delimiter: int
    extract: int
    pad_id: int
    is_for_encoder: bool = False
    """True for a bidirectional model, whose first token attends to all others; False for a causal one."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, is_for_encoder: bool = False) -> "SequenceTemplate":
        """Return the template of a tokenizer: BOS and EOS of an encoder, FRAME_TOKENS of a causal model."""
        if is_for_encoder:
            return cls(tokenizer.bos_id, tokenizer.eos_id, tokenizer.eos_id, tokenizer.pad_id, True)
        start, delimiter, extract = (tokenizer.token_id(token) for token in FRAME_TOKENS)
        return cls(start, delimiter, extract, tokenizer.pad_id)

    @staticmethod
    def size(texts: int) -> int:
        """Return the number of special tokens around `texts` texts."""
        return texts + 1

    def around(self, texts: Sequence[Sequence[int]]) -> list[int]:
        """Return <start> text <delimiter> text <extract>, or [CLS] text [SEP] text [SEP] for an encoder."""
        ids = [self.start, *texts[0]]
        for text in texts[1:]:
            ids += [self.delimiter, *text]
        return [*ids, self.extract]

    def second(self, texts: Sequence[Sequence[int]]) -> int:
        """Return the step at which the second text begins: the length of the sequence if there is none."""
        return len(texts[0]) + 2


def cut_ends(texts: Sequence[Sequence[int]], room: int) -> list[Sequence[int]]:
    """Return texts truncated to fit `room` tokens together: ends are removed from the longest first."""
    lengths = [len(text) for text in texts]
    while sum(lengths) > room:
        longest = max(range(len(texts)), key=lengths.__getitem__)
        others = max((length for index, length in enumerate(lengths) if index != longest), default=0)
        # Down to the length of the next longest, or as far as needed, whichever comes first.
        lengths[longest] -= max(1, min(sum(lengths) - room, lengths[longest] - others))
    return [text[:length] for text, length in zip(texts, lengths, strict=True)]


def cut_beginning(context: Sequence[int], choice: Sequence[int], room: int) -> list[Sequence[int]]:
    """Return a context and a choice, truncated to fit: the beginning of the context is removed first."""
    choice = choice[: max(1, room - 1)]
    return [context[max(0, len(context) + len(choice) - room) :], choice]
