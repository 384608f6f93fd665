"""Text in one language in, text in another out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import torch

from regard.checkpoint import Bundle
from regard.config import Layer, resolve
from regard.data.lines import is_text
from regard.data.sampler import micro_batches
from regard.data.sequences import Sequences
from regard.decoding import DecodeSettings, Ends, Hypothesis, decode
from regard.errors import CheckpointError, DataError
from regard.inspection import only_user, record_translation
from regard.nn import Trace
from regard.progress import SILENT, Progress
from regard.text import Tokenizer

TOKENS_AT_ONCE = 4096
"""Padded source tokens, all hypotheses counted, that are decoded together."""


@dataclass(frozen=True)
class Candidate:
    """One way to translate a text: its tokens, its log probability, and that over the length penalty."""

    text: str
    score: float
    log_probability: float
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    is_finished: bool
    """Whether it ended by itself, and was not cut off at the length limit."""


@dataclass(frozen=True)
class Translation:
    """The best translation of a text, and all that the search kept, best first."""

    source: str
    text: str
    score: float
    tokens: tuple[str, ...]
    candidates: tuple[Candidate, ...]


class Translator:
    """A translation model with its tokenizers and decoding defaults."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.model: Any = bundle.model
        self.source_tokenizer, self.target_tokenizer = translation_tokenizers(bundle.tokenizers)
        self.device = next(bundle.model.parameters()).device

    @property
    def config(self) -> dict[str, Any]:
        """The settings of the model and of decoding."""
        return {"model": self.bundle.settings.model_dump(), **self.bundle.facts}

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the target, which is that of the source too where they share one."""
        return self.target_tokenizer

    def decoding(self, **overrides: Any) -> DecodeSettings:
        """Return the checkpoint's decoding settings with some of them changed."""
        changes = {name: value for name, value in overrides.items() if value is not None}
        layers = [Layer("the checkpoint", self.bundle.facts.get("decode", {})), Layer("the call", changes)]
        return resolve(DecodeSettings, layers).settings

    @overload
    def __call__(self, text: str, *, progress: Progress = SILENT, **decoding: Any) -> Translation: ...
    @overload
    def __call__(
        self, text: Sequence[str], *, progress: Progress = SILENT, lines_before: int = 0, **decoding: Any
    ) -> list[Translation]: ...
    def __call__(
        self, text: str | Sequence[str], *, progress: Progress = SILENT, lines_before: int = 0, **decoding: Any
    ) -> Translation | list[Translation]:
        """Translate one text, or many in their order; settings such as beams=5 may be given by name.

        `lines_before` counts the lines of the same input already translated, for messages that name a line.
        """
        settings = self.decoding(**decoding)
        if isinstance(text, str):
            return self._translate([text], settings, progress, lines_before)[0]
        return self._translate(list(text), settings, progress, lines_before)

    def _translate(
        self, texts: list[str], settings: DecodeSettings, progress: Progress, before: int
    ) -> list[Translation]:
        """Translate texts in batches of like length, and put the answers back in order; blank stays blank."""
        answers = [Translation(text, "", 0.0, (), ()) for text in texts]
        places = [place for place, text in enumerate(texts) if text.strip()]
        if not places:
            return answers
        sequences = self._encode([texts[place] for place in places], [before + place + 1 for place in places])
        lengths = sequences.lengths
        limit = max(1, TOKENS_AT_ONCE // settings.beams)
        batches = micro_batches(np.arange(len(places)), lengths, np.zeros_like(lengths), limit)
        tokenizer = self.target_tokenizer
        ends = Ends(tokenizer.start, tokenizer.end, (tokenizer.padding, tokenizer.start, tokenizer.unknown))
        with progress.bar("translate", len(places)) as bar:
            for rows in batches:
                source, real = sequences.padded(rows, self.source_tokenizer.padding)
                with only_user(self.model):
                    found = decode(self.model, source.to(self.device), real.to(self.device), ends, settings)
                for row, hypotheses in zip(rows, found, strict=True):
                    place = places[row]
                    answers[place] = self._answer(texts[place], hypotheses)
                bar.advance(len(rows))
        return answers

    def _encode(self, texts: list[str], lines: list[int]) -> Sequences:
        """Return the texts as ids with an end token each; one that is too long is named by its line."""
        for line, text in zip(lines, texts, strict=True):
            if not is_text(text):
                raise DataError(f"line {line:,} is not UTF-8 text; convert it first.")
        encoded = [[*ids, self.source_tokenizer.end] for ids in self.source_tokenizer.encode_batch(texts)]
        bound = self.model.max_positions
        for line, ids in zip(lines, encoded, strict=True):
            if bound is not None and len(ids) > bound:
                raise DataError(
                    f"line {line:,} has {len(ids):,} tokens, but this model takes {bound:,} at most; "
                    f"split it into sentences."
                )
        return Sequences.of(encoded)

    def _answer(self, source: str, hypotheses: list[Hypothesis]) -> Translation:
        if not hypotheses:
            raise CheckpointError("The model gives no probabilities: its weights are not numbers; use another one.")
        candidates = tuple(
            Candidate(
                self.target_tokenizer.decode(hypothesis.ids),
                hypothesis.score,
                hypothesis.log_probability,
                tuple(self.target_tokenizer.pieces(hypothesis.ids)),
                tuple(hypothesis.ids),
                hypothesis.is_finished,
            )
            for hypothesis in hypotheses
        )
        best = candidates[0]
        return Translation(source, best.text, best.score, best.tokens, candidates)

    def inspect(self, source: str, target: str | None = None, probes: Sequence[str] = ("*.weights",)) -> Trace:
        """Record what the model does while it turns `source` into `target` (unset: into its own translation)."""
        if not source.strip():
            raise DataError("inspect: the source is empty; give it a sentence.")
        reader, writer = self.source_tokenizer, self.target_tokenizer
        source_ids = [*reader.encode(source).ids, reader.end]
        said = self(source).candidates[0].ids if target is None else writer.encode(target).ids
        target_ids = [writer.start, *said]
        tokens = {"source": reader.pieces(source_ids), "target": writer.pieces(target_ids)}
        source_row, target_row = (torch.tensor(ids, device=self.device) for ids in (source_ids, target_ids))
        return record_translation(self.model, source_row, target_row, tokens, probes)


def translation_tokenizers(tokenizers: dict[str, Tokenizer]) -> tuple[Tokenizer, Tokenizer]:
    """Return the tokenizers of source and target out of a bundle's, which may be one and the same."""
    if "tokenizer" in tokenizers:
        return tokenizers["tokenizer"], tokenizers["tokenizer"]
    return tokenizers["source"], tokenizers["target"]
