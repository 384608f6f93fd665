"""Text in, the vectors of its words in their contexts out: an ELMo, whose tokens are letters."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from torch import Tensor

from regard.errors import ConfigError
from regard.models.heads import ModelWithHead
from regard.pipelines.encoder import Encoder
from regard.pipelines.encoder_results import TokenVectors, Vectors
from regard.text.char_tokenizer import BEGINNINGS, SPACE

USUAL_LENGTH = 4096
"""Letters of a text that are read at most."""


class ElmoEncoder(Encoder):
    """Reads texts as letters, and answers by words: each has one vector, whatever its length."""

    @property
    def max_length(self) -> int:
        """How many letters of a text are read."""
        return max(USUAL_LENGTH, int(self.bundle.facts.get("max_length", 0)))

    @property
    def mix(self) -> dict[str, float] | None:
        """How much each layer counts for the task of a head, and their scale; None where there is no head."""
        model = self.bundle.model
        return model.layer_shares if isinstance(model, ModelWithHead) else None

    def fill(self, *_: Any, **__: Any) -> Any:
        """Refuse: no word is ever missing."""
        raise ConfigError("fill: an ELMo says words before or behind others and fills no masks; a BERT does.")

    def inspect(self, *_: Any, **__: Any) -> Any:
        """Refuse: there are no weights to record."""
        raise ConfigError("inspect: an ELMo reads by LSTMs and has no attention to look at; give a BERT or a GPT.")

    def logit_lens(self, *_: Any, **__: Any) -> Any:
        """Refuse: its layers do not write into one stream."""
        raise ConfigError("logit_lens: the layers of an ELMo do not write into one stream; look at a BERT or a GPT.")

    def _counted(self, tokens: Tensor, token_mask: Tensor) -> Tensor:
        return token_mask & (tokens < BEGINNINGS)

    def _with_tokens(self, text: str, ids: Sequence[int], vectors: Vectors) -> TokenVectors:
        offsets = self.tokenizer.encode(text).offsets
        kept = offsets[: len(ids) - 2]
        begins = [place for place, number in enumerate(ids) if number < BEGINNINGS]
        words, places = list[str](), list[tuple[int, int]]()
        for begin, end in pairwise([*begins, len(ids)]):
            if ids[begin] == SPACE:
                # Those of the letters alone: the mark before a word may lie on what stands before it.
                own = kept[begin : end - 1] or [kept[begin - 1]]
                places.append((min(own)[0], max(stop for _, stop in own)))
                words.append(text[slice(*places[-1])])
            else:
                places.append((0, 0))
                words += self.tokenizer.tokens([ids[begin]])
        return TokenVectors(text, tuple(words), tuple(places), vectors, len(kept) < len(offsets))

    def _alone(self, texts: list[str]) -> list[Vectors]:
        """Return the vectors of words as their letters alone make them."""
        return [each.vectors for each in self.tokens(texts, layer=0)]
