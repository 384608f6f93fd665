"""A large sample of training sentences, drawn once for all tests that look at many."""

import gc
from collections.abc import Iterator
from itertools import islice

import pytest

from regard.miniature import SPLITS, SentencePair, sentences


@pytest.fixture(scope="session")
def training() -> Iterator[list[SentencePair]]:
    # Millions of small objects that all stay: looking for garbage among them would take a third of the time.
    gc.disable()
    drawn = list(islice(sentences("train"), SPLITS["train"].size))
    gc.freeze()
    gc.enable()
    yield drawn
    gc.unfreeze()
