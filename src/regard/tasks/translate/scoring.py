"""Scoring of given translations: log probabilities of target tokens, computed in batches of similar length."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences
from regard.data.feeds.sampler import micro_batches
from regard.data.sources.pair import Pair
from regard.decoding.scoring import target_log_probabilities
from regard.models.base.protocols import Seq2Seq
from regard.pipelines.base import Pipeline
from regard.pipelines.inputs import check_text, lines
from regard.progress import SILENT, Progress
from regard.tasks.translate.options import PairScoreOptions
from regard.tasks.translate.results import PairScore

if TYPE_CHECKING:
    from regard.tasks.translate.pipeline import Translator


class PairScorer(Pipeline[Pair, PairScoreOptions, PairScore]):
    """A translator that scores given translations."""

    row = Pair
    inputs = ("source", "target")
    options_class = PairScoreOptions

    def __init__(self, translator: "Translator") -> None:
        super().__init__(translator.bundle)
        self.translator, self.origin = translator, translator.origin

    @property
    def defaults(self) -> Mapping[str, object]:
        """The checkpoint's maximum source length."""
        names = self.options_class.model_fields
        return {name: value for name, value in self.translator.defaults.items() if name in names}

    def check(self, row: Pair, options: PairScoreOptions, where: str) -> None:
        """Refuse what is not text, and what is too long."""
        for text in row:
            check_text(text, where, may_be_blank=True)
        self._encode([row], options, [where])

    def predict(
        self, rows: Sequence[Pair], options: PairScoreOptions, progress: Progress = SILENT
    ) -> list[PairScore]:
        """Return the log probabilities of the tokens of each target, given its source."""
        if not rows:
            return []
        translator = self.translator
        encoded = self._encode(rows, options, lines(1, rows))
        with translator.locked():
            values = pair_log_probabilities(
                translator.models, encoded, self.device, translator.batch_tokens, progress
            )
        ids = (encoded.target[number].tolist() for number in range(len(rows)))
        tokens = map(translator.target_tokenizer.tokens, ids)
        return [PairScore(row, tuple(each), scored) for row, each, scored in zip(rows, tokens, values, strict=True)]

    def _encode(self, rows: Sequence[Pair], options: PairScoreOptions, where: Sequence[str]) -> EncodedPairs:
        translator, limit = self.translator, options.max_source_length
        source, target = translator.source_tokenizer, translator.target_tokenizer
        sources = translator.encode(source, [row.source for row in rows], where, limit)
        targets = translator.encode(target, [row.target for row in rows], where, limit)
        return EncodedPairs(Sequences.of(sources), Sequences.of(targets), source.pad_id, target.pad_id, target.bos_id)


def pair_log_probabilities(
    models: Sequence[Seq2Seq],
    pairs: EncodedPairs,
    device: torch.device,
    limit: int,
    progress: Progress = SILENT,
) -> list[tuple[float, ...]]:
    """Return the log probabilities of each pair's target tokens; a batch has about `limit` padded tokens."""
    lengths = pairs.target.lengths
    values: list[tuple[float, ...]] = [()] * len(pairs)
    with progress.bar("score", len(pairs)) as bar:
        for rows in micro_batches(np.arange(len(pairs)), pairs.source.lengths, lengths, limit):
            log_p = target_log_probabilities(models, pairs.batch(rows).to(device)).tolist()
            for row, end in zip(rows, np.cumsum(lengths[rows]), strict=True):
                values[row] = tuple(log_p[end - lengths[row] : end])
            bar.advance(len(rows))
    return values
