"""A trainer on random data, for tests of the loop and of all around it."""

import torch

from regard.data.feeds.feed import PairFeed
from regard.objectives.translation import TranslationObjective
from regard.progress import Progress
from regard.training.device.machine import Machine
from regard.training.hooks import Hooks
from regard.training.loop import Trainer
from regard.training.settings import TrainSettings
from small import random_pairs, small_transformer

CPU = Machine(torch.device("cpu"), "fp32")


class Scene:
    """A trainer on random data, and what it saved and recorded."""

    def __init__(self, limit=10**9, dropout=0.1, dtype=torch.float32, losses=(), machine=CPU, team=None, **changes):
        pairs = random_pairs()
        settings = {"steps": 12, "tokens_per_update": 200, "warmup": 4, "validate_every": 5, "log_every": 2}
        self.settings = TrainSettings(**(settings | changes))
        model = small_transformer(dropout=dropout, embedding_dropout=dropout).to(dtype)
        self.saved, self.records = [], []
        figures = iter(losses)
        validate = lambda model: {"loss": next(figures, 1.0), "bleu": 0.0}
        save = lambda state, training, value: self.saved.append((state.step, value, training, self.weights()))
        self.warned = []
        self.progress = Progress()
        self.progress.warn = self.warned.append
        hooks = Hooks(validate, save, self.records.append, progress=self.progress)
        feed = PairFeed(lambda epoch: pairs, self.settings.tokens_per_update, limit, seed=3)
        self.trainer = Trainer(
            model, feed, TranslationObjective(0.1), self.settings, machine, hooks, seed=3, width=16, team=team
        )

    def weights(self):
        return {name: parameter.detach().clone() for name, parameter in self.trainer.model.named_parameters()}
