"""One sequence out of one text or several, by the tokens around and between them."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.text.tokenizer import Tokenizer

START, DELIMITER, EXTRACT = FRAME_TOKENS = ("<|start|>", "<|delimiter|>", "<|extract|>")
"""The special tokens a language model learns when it is fine-tuned (Radford et al., 2018, §3.3)."""


@dataclass(frozen=True)
class SequenceTemplate:
    """The ids of the tokens that stand before, between and behind texts, and who reads them."""

    start: int
    delimiter: int
    extract: int
    pad_id: int
    is_for_encoder: bool = False
    """Whether it is read in both directions, so that the first token knows of all others, and not only the last."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, is_for_encoder: bool = False) -> "SequenceTemplate":
        """Return the frame that a tokenizer has tokens for: an encoder's begin and end texts anyway."""
        if is_for_encoder:
            return cls(tokenizer.bos_id, tokenizer.eos_id, tokenizer.eos_id, tokenizer.pad_id, True)
        start, delimiter, extract = (tokenizer.token_id(token) for token in FRAME_TOKENS)
        return cls(start, delimiter, extract, tokenizer.pad_id)

    @staticmethod
    def size(texts: int) -> int:
        """Return how many tokens the frame of so many texts takes up."""
        return texts + 1

    def around(self, texts: Sequence[Sequence[int]]) -> list[int]:
        """Return <start> text <delimiter> text <extract>, which is [CLS] text [SEP] text [SEP] for an encoder."""
        ids = [self.start, *texts[0]]
        for text in texts[1:]:
            ids += [self.delimiter, *text]
        return [*ids, self.extract]

    def second(self, texts: Sequence[Sequence[int]]) -> int:
        """Return the step at which the second text begins: behind all, where there is none."""
        return len(texts[0]) + 2


def cut_ends(texts: Sequence[Sequence[int]], room: int) -> list[Sequence[int]]:
    """Return texts that fit into the room together: from the longest on, the ends go."""
    lengths = [len(text) for text in texts]
    while sum(lengths) > room:
        longest = max(range(len(texts)), key=lengths.__getitem__)
        others = max((length for place, length in enumerate(lengths) if place != longest), default=0)
        # Down to the length of the next, or as far as it takes, whichever comes first.
        lengths[longest] -= max(1, min(sum(lengths) - room, lengths[longest] - others))
    return [text[:length] for text, length in zip(texts, lengths, strict=True)]


def cut_beginning(context: Sequence[int], choice: Sequence[int], room: int) -> list[Sequence[int]]:
    """Return a context and what follows it, cut to fit: the beginning of the context goes first."""
    choice = choice[: max(1, room - 1)]
    return [context[max(0, len(context) + len(choice) - room) :], choice]
