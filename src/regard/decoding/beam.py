"""Beam search: several hypotheses for each sentence, all sentences of a batch at once."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from regard.decoding.settings import DecodeSettings, length_penalty
from regard.decoding.stepper import Ends, Hypothesis, Stepper
from regard.models import SequenceToSequence


@torch.inference_mode()
def beam_search(
    model: SequenceToSequence, source: Tensor, real: Tensor, ends: Ends, settings: DecodeSettings
) -> list[list[Hypothesis]]:
    """Return up to `beams` hypotheses of each source (B, S), best first.

    Hypotheses that end compete with those that run on. A sentence leaves the batch when no running hypothesis is
    better than its worst finished one, or at its own length limit: none depends on its neighbours.
    """
    limits = [settings.max_length(length, model.max_positions) for length in real.sum(1).tolist()]
    stepper = Stepper(model, model.encode(source, real), ends.never, source.device)
    search = _Search(stepper, [_Sentence(limit) for limit in limits], ends, settings, source.device)
    everyone = list(search.alive)
    while search.alive:
        search.step()
    return [sentence.finished for sentence in everyone]


@dataclass
class _Sentence:
    """One source under way: how long its output may be, and its finished hypotheses, best first."""

    limit: int
    finished: list[Hypothesis] = field(default_factory=list)

    def finish(self, hypothesis: Hypothesis, beams: int) -> None:
        """Take a hypothesis in; only the best `beams` are kept, and one that was cut off is the last resort."""
        self.finished.append(hypothesis)
        self.finished.sort(key=lambda each: (not each.is_finished, -each.score))
        del self.finished[beams:]


class _Search:
    """The running hypotheses of all sentences that are not done, as tensors (sentences, hypotheses)."""

    def __init__(
        self,
        stepper: Stepper,
        sentences: list[_Sentence],
        ends: Ends,
        settings: DecodeSettings,
        device: torch.device,
    ) -> None:
        self.stepper, self.alive, self.ends, self.settings = stepper, sentences, ends, settings
        self.tokens = torch.full((len(sentences), 1), ends.start, device=device)  # said last; one row to begin with
        self.totals = torch.zeros(self.tokens.shape, device=device)  # log probability so far
        self.past = self.tokens.new_empty((*self.tokens.shape, 0))  # (sentences, hypotheses, length)

    @property
    def length(self) -> int:
        """How many tokens every running hypothesis has."""
        return self.past.size(2)

    def step(self) -> None:
        """Extend every hypothesis by one token, hand out those that end, and let finished sentences go."""
        beams = self.settings.beams
        log_p = self.stepper.step(self.tokens.flatten()).view(*self.tokens.shape, -1)
        candidates = (self.totals[..., None] + log_p).flatten(1)  # (sentences, hypotheses * V)
        # Twice as many as beams: each hypothesis has one way to end, so enough are left that go on.
        totals, places = candidates.topk(min(2 * beams, candidates.size(1)), dim=1)
        origins, tokens = places // log_p.size(2), places % log_p.size(2)
        is_end = tokens == self.ends.end
        self._collect(totals, origins, is_end)
        running = is_end.long().argsort(dim=1, stable=True)[:, :beams]  # the best that do not end
        self.totals = totals.gather(1, running).masked_fill(is_end.gather(1, running), -torch.inf)
        self._advance(origins.gather(1, running), tokens.gather(1, running))
        self._release()

    def _collect(self, totals: Tensor, origins: Tensor, is_end: Tensor) -> None:
        """Hand each sentence the hypotheses that end now; only those among its best `beams` count."""
        for row, rank in is_end[:, : self.settings.beams].nonzero().tolist():
            self._finish(row, self.past[row, origins[row, rank]], float(totals[row, rank]), is_finished=True)

    def _finish(self, row: int, ids: Tensor, total: float, is_finished: bool) -> None:
        if total > -torch.inf:
            score = total / length_penalty(self.settings, ids.numel() + is_finished)
            self.alive[row].finish(Hypothesis(ids.tolist(), total, score, is_finished), self.settings.beams)

    def _advance(self, origins: Tensor, tokens: Tensor) -> None:
        """Make the chosen continuations the running hypotheses."""
        sentences = torch.arange(len(self.alive), device=tokens.device)[:, None]
        self.stepper.keep_hypotheses((sentences * self.past.size(1) + origins).flatten())
        self.past = torch.cat((self.past[sentences, origins], tokens[..., None]), dim=2)
        self.tokens = tokens

    def _release(self) -> None:
        """Let go of the sentences that are done; at its limit a sentence's running hypotheses are cut off."""
        best = (self.totals.max(1).values / length_penalty(self.settings, self.length)).tolist()
        staying = [row for row, value in enumerate(best) if not self._is_done(row, value)]
        if len(staying) == len(self.alive):
            return
        for row in set(range(len(self.alive))) - set(staying):
            for ids, total in zip(self.past[row], self.totals[row].tolist(), strict=True):
                if len(self.alive[row].finished) < self.settings.beams:
                    self._finish(row, ids, total, is_finished=False)
        rows = torch.tensor(staying, dtype=torch.long, device=self.tokens.device)
        hypotheses = self.tokens.size(1)
        places = rows[:, None] * hypotheses + torch.arange(hypotheses, device=rows.device)
        self.stepper.keep_hypotheses(places.flatten())
        self.stepper.keep_sentences(rows)
        self.past, self.tokens, self.totals = self.past[rows], self.tokens[rows], self.totals[rows]
        self.alive = [self.alive[row] for row in staying]

    def _is_done(self, row: int, best_running: float) -> bool:
        finished, beams = self.alive[row].finished, self.settings.beams
        has_enough = len(finished) == beams and best_running <= finished[-1].score
        return has_enough or self.length >= self.alive[row].limit or best_running == -torch.inf
