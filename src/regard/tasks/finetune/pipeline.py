"""The base of the pipelines of models with a head."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from regard.checkpoint.bundle import Bundle
from regard.data.encoding.labeled import EncodedExamples, encode_texts
from regard.data.encoding.templates import SequenceTemplate
from regard.data.sources.lines import is_text
from regard.errors import DataError
from regard.inspection.record import exclusive
from regard.models.families import is_bidirectional
from regard.pipelines.head_scores import Encoded, Scores, head_outputs
from regard.progress import SILENT, Progress
from regard.tasks.finetune.records import HeadFacts, TextFacts

Texts = str | tuple[str, str]
"""One text, or the two of a pair."""

BATCH_TOKENS = {"cpu": 8192, "cuda": 65536}
"""Padded tokens of a batch, by device."""

Lines = Sequence[int] | None
"""Line numbers of texts, for messages."""


def template_of(bundle: Bundle) -> SequenceTemplate:
    """Return the template of a model's sequences: the special tokens around texts."""
    return SequenceTemplate.of(bundle.tokenizers["tokenizer"], is_bidirectional(bundle.settings.family))


def encode_rows(
    bundle: Bundle, texts: Sequence[Sequence[str]], labels: Sequence[Any], progress: Progress = SILENT
) -> EncodedExamples:
    """Return texts or text pairs as ids, with their labels, for a model with a head over whole texts."""
    facts = TextFacts.read(bundle)
    template, tokenizer = template_of(bundle), bundle.tokenizers["tokenizer"]
    encoded = encode_texts(texts, labels, tokenizer, template, facts.max_length, facts.pair_encoding, progress)
    return replace(encoded, uses_pooling=bundle.head is not None and bundle.head.pooling != "token")


class HeadPipeline:
    """A model with a head, and its tokenizer."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.model: Any = bundle.model
        self.tokenizer = bundle.tokenizers["tokenizer"]
        self.template = template_of(bundle)
        self.device = next(bundle.model.parameters()).device
        self.max_length = HeadFacts.read(bundle).max_length
        """Maximum length of a sequence in tokens, special tokens included."""

    @property
    def config(self) -> dict[str, Any]:
        """The settings of the model and the facts of its task."""
        return {"model": self.bundle.settings.model_dump(), **self.bundle.facts}

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of the training table, by their setting; empty where there was no table."""
        return dict(HeadFacts.read(self.bundle).columns)

    @property
    def mix(self) -> dict[str, float] | None:
        """The learned weight of each layer of an ELMo, and their common scale; None for other models."""
        weights: dict[str, float] | None = self.model.layer_weights
        return weights

    @property
    def batch_tokens(self) -> int:
        """Padded tokens of a batch."""
        return BATCH_TOKENS.get(self.device.type, BATCH_TOKENS["cpu"])

    def _scores(self, examples: Encoded, progress: Progress) -> list[Scores]:
        with exclusive(self.model):
            return head_outputs(self.model, examples, self.device, self.batch_tokens, progress)


class TextPipeline(HeadPipeline):
    """A model of single texts or of text pairs."""

    @property
    def texts(self) -> int:
        """The number of texts of an example: one, or two."""
        return TextFacts.read(self.bundle).texts

    def _predict(
        self, given: Sequence[Texts], lines: Sequence[int], progress: Progress
    ) -> Iterator[tuple[tuple[str, ...], Scores, bool]]:
        """Yield the texts of each example, the outputs of the head, and whether it was truncated."""
        rows = [as_texts(each, f"line {line:,}") for line, each in zip(lines, given, strict=True)]
        for line, texts in zip(lines, rows, strict=True):
            check_count(texts, self.texts, f"line {line:,}")
            check_texts(texts, f"line {line:,}")
        stripped = [tuple(text.strip() for text in texts) for texts in rows]  # as in training
        encoded = encode_rows(self.bundle, stripped, [0] * len(rows))
        return zip(rows, self._scores(encoded, progress), encoded.is_truncated.tolist(), strict=True)


def as_texts(given: Any, where: str) -> tuple[str, ...]:
    """Return one text or those of a pair as a tuple; anything else (NaN of a data frame, a number) is refused."""
    texts = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, tuple | list) else (None,)
    if not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where} is {given!r} and not text; leave it out, or give it as text.")
    return texts


def check_texts(texts: Sequence[str], where: str) -> None:
    """Refuse empty texts and invalid Unicode."""
    for text in texts:
        if not text.strip():
            raise DataError(f"{where} is empty; give some text.")
        if not is_text(text):
            raise DataError(f"{where} is not UTF-8 text; convert it first.")


def check_count(texts: Sequence[str], wanted: int, where: str) -> None:
    """Refuse another number of texts than the model takes."""
    if len(texts) != wanted:
        what = "one text" if wanted == 1 else "text pairs"
        raise DataError(f"{where}: this model takes {what}, but {len(texts)} were given.")
