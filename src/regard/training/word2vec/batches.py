"""Word vectors in batches of many pairs, for a GPU: pairs and negatives are drawn on the device itself.

A batch sums the steps that the compiled loop takes one by one, so a word that occurs often in one would go too far;
`max_row_update` bounds how far.
"""

import torch
from torch import Tensor

from regard.data.feeds.word2vec import Word2VecFeed
from regard.models.word_vectors import WordVectorTables
from regard.objectives.word2vec import VectorObjectiveSettings, draw_negatives, kept_shares, noise_bounds
from regard.training.word2vec.settings import VectorTrainSettings

FEWEST = 4096
"""Batches of a training at least: a small text would be learned in too few steps."""


class Batches:
    """Learns from an update of words in batches of pairs; no gradient is kept, tables change in place."""

    def __init__(
        self,
        model: WordVectorTables,
        feed: Word2VecFeed,
        objective: VectorObjectiveSettings,
        settings: VectorTrainSettings,
        algorithm: str,
        device: torch.device,
    ) -> None:
        self.feed, self.objective, self.settings, self.device = feed, objective, settings, device
        self.words, self.contexts = model.words.weight.detach(), model.contexts.weight.detach()
        counts = torch.from_numpy(feed.counts)
        self.shares = kept_shares(counts, objective.subsampling).float().to(device)
        bounds = noise_bounds(counts, objective.smoothing)
        self.bounds = bounds.to(device) if device.type != "mps" else bounds.float().to(device)
        self.generator = torch.Generator(device)
        self.is_cbow = algorithm == "cbow"

    def learn(self, slices: list[tuple[int, int]], seeds: list[int], rates: list[float]) -> tuple[float, int]:
        """Learn from one stretch of text; the rate falls from batch to batch."""
        self.generator.manual_seed(seeds[0])
        ids = torch.from_numpy(self.feed.read(slices[0][0], slices[-1][1])).to(self.device, torch.int64)
        centers, around, token_mask = self._windows(self._kept(ids))
        examples = (
            self._places(centers, around, token_mask) if self.is_cbow else self._pairs(centers, around, token_mask)
        )
        count = len(examples[0])
        order = torch.randperm(count, device=self.device, generator=self.generator)
        losses = torch.zeros((), device=self.device)
        fewest = -(-FEWEST // self.settings.steps)
        size = min(self.settings.pairs_per_batch, max(1, count // fewest))
        for begin in range(0, count, size):
            batch = [each[order[begin : begin + size]] for each in examples]
            rate = rates[0] + (rates[-1] - rates[0]) * begin / max(1, count)
            losses += self._cbow(rate, *batch) if self.is_cbow else self._skip_gram(rate, *batch)
        return float(losses), count

    def _kept(self, ids: Tensor) -> Tensor:
        """Return what is left after frequent words are passed over; ends of documents stay."""
        size = len(self.words)
        chances = torch.rand(len(ids), device=self.device, generator=self.generator)
        return ids[(ids >= size) | (chances < self.shares[ids.clamp(max=size - 1)])]

    def _windows(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return words (N,), those around each (N, 2 window), and which of these are in its window and document."""
        size, reach = len(self.words), self.objective.window
        span = torch.randint(1, reach + 1, (len(ids),), device=self.device, generator=self.generator)
        offsets = torch.tensor([*range(-reach, 0), *range(1, reach + 1)], device=self.device)
        places = torch.arange(len(ids), device=self.device)[:, None] + offsets  # (N, 2 window)
        inside = (places >= 0) & (places < len(ids)) & (offsets.abs() <= span[:, None])
        places = places.clamp(0, max(0, len(ids) - 1))
        document = (ids >= size).cumsum(0)
        around = ids[places]
        token_mask = inside & (document[places] == document[:, None]) & (around < size) & (ids < size)[:, None]
        return ids, around, token_mask

    def _pairs(self, centers: Tensor, around: Tensor, token_mask: Tensor) -> tuple[Tensor, Tensor]:
        rows, columns = token_mask.nonzero(as_tuple=True)
        return centers[rows], around[rows, columns]

    def _places(self, centers: Tensor, around: Tensor, token_mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rows = token_mask.any(1).nonzero(as_tuple=True)[0]
        return centers[rows], around[rows].clamp(max=len(self.words) - 1), token_mask[rows]

    def _skip_gram(self, rate: float, centers: Tensor, contexts: Tensor) -> Tensor:
        """Learn from pairs (B,) and return the sum of their losses."""
        vectors = self.words[centers]
        targets, steps, learned, loss = self._against(vectors, contexts, rate)
        self._move_contexts(targets, steps, vectors)
        self._move(self.words, centers, learned, torch.linalg.vector_norm(learned, dim=1))
        return loss

    def _cbow(self, rate: float, centers: Tensor, around: Tensor, token_mask: Tensor) -> Tensor:
        """Learn from places: words (B,), and those around each (B, S), of which some are real."""
        shares = token_mask / token_mask.sum(1, keepdim=True)
        vectors = torch.bmm(shares[:, None], self.words[around])[:, 0]
        targets, steps, learned, loss = self._against(vectors, centers, rate)
        self._move_contexts(targets, steps, vectors)
        # Each learns all of it, as in word2vec's program; those that are not real learn nothing, and nothing waits
        # for their number.
        counted = token_mask.to(learned.dtype)
        lengths = counted * torch.linalg.vector_norm(learned, dim=1, keepdim=True)
        self._move(
            self.words, around.flatten(), (counted[:, :, None] * learned[:, None]).flatten(0, 1), lengths.flatten()
        )
        return loss

    def _against(self, vectors: Tensor, positives: Tensor, rate: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Tell words that are there from some that are not.

        Returns both (B, 1 + K), the step towards each (B, 1 + K), the steps of the vectors (B, D), and the loss.
        """
        drawn = draw_negatives(self.bounds, (len(positives), self.objective.negatives), self.generator)
        targets = torch.cat([positives[:, None], drawn], 1)
        contexts = self.contexts[targets]
        logits = torch.bmm(contexts, vectors[:, :, None])[:, :, 0]
        signs = torch.ones_like(logits)
        signs[:, 1:] = torch.where(drawn == positives[:, None], 0.0, -1.0)  # a word is never against itself
        chances = torch.sigmoid(-signs * logits)  # how wrong each is
        loss = -(torch.nn.functional.logsigmoid(signs * logits) * signs.abs()).sum()
        steps = rate * signs * chances
        return targets, steps, torch.bmm(steps[:, None], contexts)[:, 0], loss

    def _move_contexts(self, targets: Tensor, steps: Tensor, vectors: Tensor) -> None:
        """Move the contexts (B, 1 + K) of vectors (B, D) by so much (B, 1 + K) of these."""
        lengths = steps.abs() * torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
        moves = (steps[:, :, None] * vectors[:, None]).flatten(0, 1)
        self._move(self.contexts, targets.flatten(), moves, lengths.flatten())

    def _move(self, table: Tensor, rows: Tensor, steps: Tensor, lengths: Tensor) -> None:
        """Add steps (N, D), so long (N,), to rows (N,) of a table; where one row would go too far, less of each."""
        far = torch.zeros(len(table), device=self.device).index_add_(0, rows, lengths)
        shares = (self.settings.max_row_update / far.clamp(min=self.settings.max_row_update))[rows]
        table.index_add_(0, rows, steps * shares[:, None])

    def close(self) -> None:
        """Nothing is held."""
