"""The pipeline of an ELMo: text in, one contextual vector for each word out; words are encoded by characters."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from torch import Tensor

from regard.errors import ConfigError
from regard.models.heads import ModelWithHead
from regard.pipelines.encoder import Encoder
from regard.pipelines.encoder_results import TokenVectors, Vectors
from regard.text.char_tokenizer import SPACE, WORD_START_LIMIT

DEFAULT_LENGTH = 4096
"""Maximum length of a text in ids, that is bytes and word boundaries."""


class ElmoEncoder(Encoder):
    """Encodes texts byte by byte and returns one vector for each word, whatever its length."""

    @property
    def max_length(self) -> int:
        """Maximum length of a text in ids; the rest is cut off."""
        return max(DEFAULT_LENGTH, int(self.bundle.facts.get("max_length", 0)))

    @property
    def mix(self) -> dict[str, float] | None:
        """The weight of each layer in the scalar mix, and its scale; None where there is no head."""
        model = self.bundle.model
        return model.layer_weights if isinstance(model, ModelWithHead) else None

    @property
    def fill(self) -> Any:
        """Refuse: there is no masked-LM head."""
        raise ConfigError("fill: an ELMo predicts neighboring words, not masked ones; use a BERT.")

    def logit_lens(self, *_: Any, **__: Any) -> Any:
        """Refuse: its layers have no common residual stream."""
        raise ConfigError("logit_lens: the layers of an ELMo have no common residual stream; use a BERT or a GPT.")

    def _counted(self, tokens: Tensor, token_mask: Tensor) -> Tensor:
        return token_mask & (tokens < WORD_START_LIMIT)

    def _with_tokens(self, text: str, ids: Sequence[int], vectors: Vectors) -> TokenVectors:
        offsets = self.tokenizer.encode(text).offsets
        kept = offsets[: len(ids) - 2]
        begins = [position for position, number in enumerate(ids) if number < WORD_START_LIMIT]
        words, spans = list[str](), list[tuple[int, int]]()
        for begin, end in pairwise([*begins, len(ids)]):
            if ids[begin] == SPACE:
                # Offsets of its characters alone: the boundary before a word may cover what precedes it.
                characters = kept[begin : end - 1] or [kept[begin - 1]]
                spans.append((min(characters)[0], max(stop for _, stop in characters)))
                words.append(text[slice(*spans[-1])])
            else:
                spans.append((0, 0))
                words += self.tokenizer.tokens([ids[begin]])
        return TokenVectors(text, tuple(words), tuple(spans), vectors, len(kept) < len(offsets))

    def _alone(self, texts: list[str]) -> list[Vectors]:
        """Return the context-free vectors of words, from their characters alone (layer 0)."""
        return [each.vectors for each in self.tokens(texts, layer=0)]
