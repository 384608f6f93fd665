"""Labeled texts, and small models with a head, for tests."""

import csv
import random
from pathlib import Path

import torch

from regard.models.base.settings import HeadSettings, Vocabularies
from regard.models.bert import BertSettings
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.models.recurrent.language_model import RecurrentLmSettings
from regard.progress import Progress
from regard.text.settings import TokenizerSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer
from small import VOCABULARY

GOOD, BAD = ("good", "lovely", "fine", "bright"), ("bad", "awful", "poor", "dull")
THINGS = ("film", "book", "song", "meal", "play", "room")

SMALL_GPT = {"width": 32, "heads": 4, "feed_forward_width": 64, "layers": 2, "max_positions": 64}
QUICK = {
    **{f"model.{name}": value for name, value in SMALL_GPT.items()},
    "text.size": 400,
    "train.steps": 100,
    "train.warmup": 5,
    "train.tokens_per_update": 500,
    "train.validate_every": 50,
    "train.learning_rate": 1e-2,
}
"""Settings that make a task's default run take seconds."""


OUTPUTS = {"multiple-choice": 1, "regression": 1, "similarity": 1, "extractive-qa": 2}
"""Number of outputs of heads without labels."""


class Telling(Progress):
    """Keeps all messages and warnings."""

    def __init__(self):
        self.said, self.warned = [], []

    def info(self, message):
        self.said.append(message)

    def warn(self, message):
        self.warned.append(message)


def reviews(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Return short texts, and whether they are kind."""
    draw = random.Random(seed)
    texts = []
    for _ in range(count):
        label = draw.choice(("kind", "unkind"))
        word = draw.choice(GOOD if label == "kind" else BAD)
        parts = draw.sample(THINGS, draw.randint(1, 4))
        texts.append((f"the {parts[0]} was {word} , said the man with the {' and the '.join(parts)} .", label))
    return texts


def write_reviews(path: Path, count: int = 300, seed: int = 0) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *reviews(count, seed)])
    return path


def word_tokenizer(*texts: str) -> Tokenizer:
    words = [*texts, "a b c d e f g h i j k l m n o p q r s t u v w x y z"]
    return train_tokenizer(words, TokenizerSettings(kind="word", size=200, min_frequency=1))


def small_headed(kind="classification", outputs=3, family="gpt", seed=0, pooling="token", **changes):
    """Return a small model with a head, in fp64, whose outputs are far from uniform."""
    torch.manual_seed(seed)
    plain = {"dropout": 0.0, "embedding_dropout": 0.0, "width": 16}
    if family == "bert":
        settings = BertSettings(**(SMALL_GPT | plain | {"attention_dropout": 0.0} | changes))
    elif family == "gpt":
        settings = GptSettings(**(SMALL_GPT | plain | changes))
    else:
        settings = RecurrentLmSettings(**(plain | changes))
    head = HeadSettings(kind=kind, outputs=OUTPUTS.get(kind, outputs), dropout=0.0, pooling=pooling)
    model = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True), head).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()
