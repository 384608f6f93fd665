"""Batched word2vec training for a GPU: pairs and negatives are sampled on the device.

A batch sums the steps that the compiled loop takes one by one, so that frequent words would overshoot;
`max_row_update` bounds the update of a row.
"""

import torch
from torch import Tensor

from regard.data.feeds.word2vec import Word2VecFeed
from regard.models.word_vectors import WordVectorTables
from regard.objectives.settings import VectorObjectiveSettings
from regard.objectives.word2vec import keep_probabilities, noise_bounds, sample_negatives
from regard.training.word2vec.settings import VectorTrainSettings

FEWEST = 4096
"""Minimum number of batches of a training, so that a small text gets enough steps."""


class Batches:
    """Trains on an update of words in batches of pairs; tables change in place, without autograd."""

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
        self.keep = keep_probabilities(counts, objective.subsampling).float().to(device)
        bounds = noise_bounds(counts, objective.smoothing)
        self.bounds = bounds.to(device) if device.type != "mps" else bounds.float().to(device)
        self.generator = torch.Generator(device)
        self.is_cbow = algorithm == "cbow"

    def learn(self, slices: list[tuple[int, int]], seeds: list[int], rates: list[float]) -> tuple[float, int]:
        """Train on a span of text with a learning rate that decays from batch to batch; return loss sum and pairs."""
        self.generator.manual_seed(seeds[0])
        ids = torch.from_numpy(self.feed.read(slices[0][0], slices[-1][1])).to(self.device, torch.int64)
        windows = self._windows(self._kept(ids))
        examples = self._cbow_examples(*windows) if self.is_cbow else self._pairs(*windows)
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
        """Return the words kept by subsampling; ends of documents stay."""
        size = len(self.words)
        uniforms = torch.rand(len(ids), device=self.device, generator=self.generator)
        return ids[(ids >= size) | (uniforms < self.keep[ids.clamp(max=size - 1)])]

    def _windows(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return centers (N,), their contexts (N, 2 window), and the mask of contexts in window and document."""
        size, reach = len(self.words), self.objective.window
        span = torch.randint(1, reach + 1, (len(ids),), device=self.device, generator=self.generator)
        offsets = torch.tensor([*range(-reach, 0), *range(1, reach + 1)], device=self.device)
        positions = torch.arange(len(ids), device=self.device)[:, None] + offsets  # (N, 2 window)
        inside = (positions >= 0) & (positions < len(ids)) & (offsets.abs() <= span[:, None])
        positions = positions.clamp(0, max(0, len(ids) - 1))
        document = (ids >= size).cumsum(0)
        around = ids[positions]
        token_mask = inside & (document[positions] == document[:, None]) & (around < size) & (ids < size)[:, None]
        return ids, around, token_mask

    def _pairs(self, centers: Tensor, around: Tensor, token_mask: Tensor) -> tuple[Tensor, Tensor]:
        rows, columns = token_mask.nonzero(as_tuple=True)
        return centers[rows], around[rows, columns]

    def _cbow_examples(self, centers: Tensor, around: Tensor, token_mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rows = token_mask.any(1).nonzero(as_tuple=True)[0]
        return centers[rows], around[rows].clamp(max=len(self.words) - 1), token_mask[rows]

    def _skip_gram(self, rate: float, centers: Tensor, contexts: Tensor) -> Tensor:
        """Train on pairs (B,) and return the sum of their losses."""
        vectors = self.words[centers]
        targets, steps, update, loss = self._contrast(vectors, contexts, rate)
        self._update_contexts(targets, steps, vectors)
        self._update(self.words, centers, update, torch.linalg.vector_norm(update, dim=1))
        return loss

    def _cbow(self, rate: float, centers: Tensor, around: Tensor, token_mask: Tensor) -> Tensor:
        """Train on centers (B,) with masked contexts (B, S) and return the sum of their losses."""
        weights = token_mask / token_mask.sum(1, keepdim=True)
        vectors = torch.bmm(weights[:, None], self.words[around])[:, 0]
        targets, steps, update, loss = self._contrast(vectors, centers, rate)
        self._update_contexts(targets, steps, vectors)
        # Every context gets the whole update, as in word2vec's program; masked ones get 0, since selecting the others
        # would synchronize with the host.
        mask = token_mask.to(update.dtype)
        lengths = mask * torch.linalg.vector_norm(update, dim=1, keepdim=True)
        updates = (mask[:, :, None] * update[:, None]).flatten(0, 1)
        self._update(self.words, around.flatten(), updates, lengths.flatten())
        return loss

    def _contrast(self, vectors: Tensor, positives: Tensor, rate: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Contrast positives (B,) with sampled negatives.

        Returns both (B, 1 + K), the step towards each (B, 1 + K), the updates of the vectors (B, D), and the loss.
        """
        negatives = sample_negatives(self.bounds, (len(positives), self.objective.negatives), self.generator)
        targets = torch.cat([positives[:, None], negatives], 1)
        contexts = self.contexts[targets]
        logits = torch.bmm(contexts, vectors[:, :, None])[:, :, 0]
        signs = torch.ones_like(logits)
        signs[:, 1:] = torch.where(negatives == positives[:, None], 0.0, -1.0)  # a word is not its own negative
        errors = torch.sigmoid(-signs * logits)
        loss = -(torch.nn.functional.logsigmoid(signs * logits) * signs.abs()).sum()
        steps = rate * signs * errors
        return targets, steps, torch.bmm(steps[:, None], contexts)[:, 0], loss

    def _update_contexts(self, targets: Tensor, steps: Tensor, vectors: Tensor) -> None:
        """Add steps (B, 1 + K) times vectors (B, D) to the contexts (B, 1 + K)."""
        lengths = steps.abs() * torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
        updates = (steps[:, :, None] * vectors[:, None]).flatten(0, 1)
        self._update(self.contexts, targets.flatten(), updates, lengths.flatten())

    def _update(self, table: Tensor, rows: Tensor, steps: Tensor, lengths: Tensor) -> None:
        """Add steps (N, D) of norms (N,) to rows (N,) of a table, scaled where a row exceeds `max_row_update`."""
        totals = torch.zeros(len(table), device=self.device).index_add_(0, rows, lengths)
        scales = (self.settings.max_row_update / totals.clamp(min=self.settings.max_row_update))[rows]
        table.index_add_(0, rows, steps * scales[:, None])

    def close(self) -> None:
        """Do nothing: there are no threads."""
