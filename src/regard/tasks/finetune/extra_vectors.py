"""Extra word vectors: concatenated to the states of an ELMo, word by word (Peters et al., 2018, §3.3)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.checkpoint.bundle import Bundle
from regard.errors import ConfigError
from regard.models.base.settings import ExtraVectorsSettings, ModelSettings
from regard.models.families import family
from regard.nn.layers.hashed_embedding import HashedEmbedding
from regard.pipelines.word_vectors import load_word_vectors
from regard.progress import Progress
from regard.tasks.finetune.settings import FineTuneSettings
from regard.tasks.finetune.word_body import FREQUENT, describe_coverage
from regard.tasks.init_from import origin_hash
from regard.text.char_tokenizer import WORD_START_LIMIT, words_of
from regard.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class ExtraVectors:
    """Word vectors by the byte tokens of their words."""

    settings: ExtraVectorsSettings
    tokens: Tensor  # (N,) of all words, concatenated
    word: Tensor  # (N,) index of each token's word
    vectors: Tensor  # (V, D)
    facts: dict[str, Any]

    def fill(self, table: HashedEmbedding) -> None:
        """Copy the vectors into a hashed embedding."""
        table.fill(table.spelled(self.tokens, self.word, len(self.vectors)), self.vectors)


def read_extra_vectors(
    settings: FineTuneSettings[ModelSettings],
    path: str,
    pretrained: Bundle | None,
    train: Sequence[str],
    texts: Sequence[str],
    progress: Progress,
) -> ExtraVectors:
    """Return the vectors of the words of all texts, and of the most frequent words."""
    if family(settings.model.family).kind != "bidirectional-lm" or pretrained is None:
        raise ConfigError(
            f"extra_vectors: {path} is for a pretrained ELMo only (--init-from RUN of one); leave it out."
        )
    vectors, tokenizer = load_word_vectors(path, progress=progress), pretrained.tokenizers["tokenizer"]
    wanted = dict.fromkeys((*words_of(texts, tokenizer), *vectors.words[:FREQUENT]))
    known = {word: row for word in wanted if (row := vectors.find(word)) is not None}
    spelled = _spell(list(known), tokenizer)
    if not spelled:
        raise ConfigError(f"extra_vectors: {path} has no word of the texts; give vectors of their language.")
    progress.info(
        f"{path}: {describe_coverage(Counter(words_of(train, tokenizer)), known)}; extra word vectors "
        f"{'are frozen' if settings.freeze_extra_vectors else 'are trained'}."
    )
    given = torch.from_numpy(vectors.vectors[[known[word] for word in spelled]]).float()
    tokens = [torch.tensor(ids) for ids in spelled.values()]
    word = torch.repeat_interleave(torch.arange(len(tokens)), torch.tensor([len(ids) for ids in tokens]))
    facts = {"path": path, "sha256": origin_hash(path), "words": len(spelled)}
    extra = ExtraVectorsSettings(words=len(spelled), width=vectors.width, freeze=settings.freeze_extra_vectors)
    return ExtraVectors(extra, torch.cat(tokens), word, given, facts)


def _spell(words: Sequence[str], tokenizer: Tokenizer) -> dict[str, list[int]]:
    """Return the tokens of the words that are not split; of two words with the same tokens, the first."""
    spelled: dict[tuple[int, ...], str] = {}
    for word, ids in zip(words, tokenizer.encode_batch(words), strict=True):
        if ids and sum(token < WORD_START_LIMIT for token in ids) == 1:
            spelled.setdefault(tuple(ids), word)
    return {word: list(ids) for ids, word in spelled.items()}
