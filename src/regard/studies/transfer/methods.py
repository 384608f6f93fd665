"""The ways to begin: nothing, word vectors, an ELMo, a BERT; as they are, or tuned."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from regard.errors import ConfigError

Need = Literal["vectors", "elmo", "bert"]


@dataclass(frozen=True)
class Method:
    """One way to begin."""

    about: str
    needs: Need | None = None
    """What must have learned before."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    beside: Need | None = None
    """What stands beside it."""
    epochs: int = 10
    least_updates: int = 150
    """Updates that even the smallest set is learned from."""

    @property
    def all_needs(self) -> list[Need]:
        """All that must have learned before."""
        return [each for each in (self.needs, self.beside) if each is not None]


READER = {"bilstm_width": 64}
METHODS = {
    "scratch": Method("word vectors that begin with nothing", None, {"model.preset": "words"} | READER),
    "vectors-frozen": Method("pretrained word vectors, as they are", "vectors", {"freeze_body": True} | READER),
    "vectors-tuned": Method("pretrained word vectors, tuned", "vectors", {"freeze_body": False} | READER),
    "elmo": Method("an ELMo as it is, its layers mixed", "elmo", {"freeze_body": True} | READER),
    "elmo-vectors": Method(
        "an ELMo as it is, beside word vectors that are tuned", "elmo", {"freeze_body": True} | READER, "vectors"
    ),
    "bert-features": Method("a BERT as it is", "bert", {"freeze_body": True} | READER),
    "bert-tuned": Method("a whole BERT, tuned", "bert", {}, epochs=3, least_updates=120),
}
"""All but the last have the same network of the task above them."""

USUAL = tuple(name for name in METHODS if name != "elmo-vectors")
"""Those that are compared where none are named."""


def check_methods(names: Sequence[str]) -> list[str]:
    """Return the methods by name, each once."""
    for name in names:
        if name not in METHODS:
            near = difflib.get_close_matches(name, METHODS, n=1, cutoff=0.5)
            way_out = f"did you mean {near[0]}?" if near else f"known are {', '.join(METHODS)}."
            raise ConfigError(f'--methods: there is no method "{name}"; {way_out}')
        if list(names).count(name) > 1:
            raise ConfigError(f'--methods: "{name}" is named twice; name each method once.')
    if not names:
        raise ConfigError(f"--methods: name at least one of {', '.join(METHODS)}.")
    return list(names)


def parse_sizes(words: Sequence[str]) -> list[int | None]:
    """Return how many training examples are learned from, smallest first; None stands for all."""
    found: list[int | None] = []
    for word in words:
        if word != "all" and (not word.isdecimal() or int(word) < 2):
            raise ConfigError(f'--sizes: "{word}" is no number of examples; give numbers from 2 on, or all.')
        size = None if word == "all" else int(word)
        if size in found:
            raise ConfigError(f'--sizes: "{word}" is named twice; name each size once.')
        found.append(size)
    if not found:
        raise ConfigError("--sizes: name at least one number of examples, or all.")
    return sorted(size for size in found if size is not None) + [None] * (None in found)
