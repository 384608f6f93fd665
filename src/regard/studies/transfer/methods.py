"""The methods of a transfer study: from scratch, word vectors, an ELMo or a BERT; frozen or fine-tuned."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from regard.errors import ConfigError

PretrainedKind = Literal["vectors", "elmo", "bert"]


@dataclass(frozen=True)
class Method:
    """One method: the pretrained model it starts from, and its settings."""

    about: str
    init_from: PretrainedKind | None = None
    """The pretrained model."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    extra_vectors: PretrainedKind | None = None
    """Word vectors that are concatenated with its outputs."""
    epochs: int = 10
    min_updates: int = 150
    """Minimum number of updates, for small training sets."""

    @property
    def pretrained(self) -> list[PretrainedKind]:
        """All pretrained models of the method."""
        return [each for each in (self.init_from, self.extra_vectors) if each is not None]


BILSTM = {"bilstm_width": 64}
METHODS = {
    "scratch": Method("random word vectors", None, {"model.preset": "words"} | BILSTM),
    "vectors-frozen": Method("pretrained word vectors, frozen", "vectors", {"freeze_body": True} | BILSTM),
    "vectors-tuned": Method("pretrained word vectors, fine-tuned", "vectors", {"freeze_body": False} | BILSTM),
    "elmo": Method("ELMo, frozen, scalar mix of its layers", "elmo", {"freeze_body": True} | BILSTM),
    "elmo-vectors": Method(
        "ELMo, frozen, with fine-tuned word vectors", "elmo", {"freeze_body": True} | BILSTM, "vectors"
    ),
    "bert-features": Method("BERT, frozen", "bert", {"freeze_body": True} | BILSTM),
    "bert-tuned": Method("BERT, fine-tuned", "bert", {}, epochs=3, min_updates=120),
}
"""All but the last have the same task network, a bidirectional LSTM."""

DEFAULT_METHODS = tuple(name for name in METHODS if name != "elmo-vectors")
"""Methods of a study where none are given."""


def check_methods(names: Sequence[str]) -> list[str]:
    """Return the names of the methods; an unknown or repeated one is refused."""
    for name in names:
        if name not in METHODS:
            near = difflib.get_close_matches(name, METHODS, n=1, cutoff=0.5)
            way_out = f"did you mean {near[0]}?" if near else f"methods: {', '.join(METHODS)}."
            raise ConfigError(f'--methods: there is no method "{name}"; {way_out}')
        if list(names).count(name) > 1:
            raise ConfigError(f'--methods: "{name}" is named twice; name each method once.')
    if not names:
        raise ConfigError(f"--methods: give at least one of {', '.join(METHODS)}.")
    return list(names)


def parse_sizes(words: Sequence[str]) -> list[int | None]:
    """Return the numbers of training examples in ascending order; None: all."""
    sizes: list[int | None] = []
    for word in words:
        if word != "all" and (not word.isdecimal() or int(word) < 2):
            raise ConfigError(f'--sizes: "{word}" is not a number of examples; give numbers of at least 2, or all.')
        size = None if word == "all" else int(word)
        if size in sizes:
            raise ConfigError(f'--sizes: "{word}" is named twice; name each size once.')
        sizes.append(size)
    if not sizes:
        raise ConfigError("--sizes: give at least one number of examples, or all.")
    return sorted(size for size in sizes if size is not None) + [None] * (None in sizes)
