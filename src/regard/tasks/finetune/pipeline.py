"""The base of the pipelines of models with a head."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from regard.data.encoding.templates import SequenceTemplate
from regard.errors import DataError
from regard.pipelines.base import Options, Pipeline, Result
from regard.pipelines.head_scores import Encoded, Scores, head_outputs
from regard.pipelines.inputs import TextRow, as_row, check_text, split_rows
from regard.progress import SILENT, Progress
from regard.tasks.finetune.records import HeadFacts, TextFacts

if TYPE_CHECKING:
    from torch import Tensor

    from regard.checkpoint.bundle import Bundle
    from regard.data.encoding.labeled import EncodedExamples
    from regard.nn.probes.trace import Trace

BATCH_TOKENS = {"cpu": 8192, "cuda": 65536}
"""Padded tokens of a batch, by device."""

R = TypeVar("R")
O = TypeVar("O", bound=Options)  # noqa: E741
A = TypeVar("A", bound=Result)


def template_of(bundle: "Bundle") -> SequenceTemplate:
    """Return the template of a model's sequences: the special tokens around texts."""
    from regard.models.families import is_bidirectional

    return SequenceTemplate.of(bundle.tokenizers["tokenizer"], is_bidirectional(bundle.settings.family))


def encode_rows(
    bundle: "Bundle", texts: Sequence[Sequence[str]], labels: Sequence[Any], progress: Progress = SILENT
) -> "EncodedExamples":
    """Return texts or text pairs as ids, with their labels, for a model with a head over whole texts."""
    from regard.data.encoding.labeled import encode_texts

    facts = TextFacts.read(bundle)
    template, tokenizer = template_of(bundle), bundle.tokenizers["tokenizer"]
    encoded = encode_texts(texts, labels, tokenizer, template, facts.max_length, facts.pair_encoding, progress)
    return replace(encoded, uses_pooling=bundle.head is not None and bundle.head.pooling != "token")


class HeadPipeline(Pipeline[R, O, A]):
    """A model with a head, and its tokenizer."""

    def __init__(self, bundle: "Bundle") -> None:
        super().__init__(bundle)
        self.tokenizer = bundle.tokenizers["tokenizer"]
        self.template = template_of(bundle)
        self.max_length = HeadFacts.read(bundle).max_length
        """Maximum length of a sequence in tokens, special tokens included."""

    @property
    def mix(self) -> dict[str, float] | None:
        """The learned weight of each layer of an ELMo, and their common scale; None for other models."""
        weights: dict[str, float] | None = self.model.layer_weights
        return weights

    @property
    def batch_tokens(self) -> int:
        """Padded tokens of a batch."""
        return BATCH_TOKENS.get(self.device.type, BATCH_TOKENS["cpu"])

    @abstractmethod
    def encode(self, rows: Sequence[R], progress: Progress = SILENT) -> Encoded:
        """Return rows as ids."""

    def inspect(self, *inputs: object, probes: Sequence[str] = ("*.weights",)) -> "Trace":
        """Return a trace of the body's forward pass over the first sequence of one row.

        A model without attention records its hidden states.
        """
        from regard.inspection.record import record_text

        ids, segments = self.first_sequence(split_rows(inputs)[0][0])
        tokens = {"text": self.tokenizer.tokens(ids.tolist())}
        return record_text(self.model.body, ids, tokens, probes, segments)

    def first_sequence(self, given: object) -> "tuple[Tensor, Tensor | None]":
        """Return ids and segments (T,) of the first sequence of one row; a causal model has no segments."""
        from regard.data.encoding.inputs import VarlenInputs

        row = as_row(self.row, self.inputs, given, "inspect")
        self.check(row, self.options(), "inspect")
        reading = self.encode([row]).batch(np.arange(1)).reading
        if isinstance(reading, VarlenInputs):
            end = int(reading.cu_seqlens[1])
            return reading.tokens[:end].to(self.device), reading.segments[:end].to(self.device)
        return reading.tokens[0][reading.token_mask[0]].to(self.device), None

    def _scores(self, examples: Encoded, progress: Progress) -> list[Scores]:
        from regard.inspection.record import exclusive

        with exclusive(self.model):
            return head_outputs(self.model, examples, self.device, self.batch_tokens, progress)


class TextPipeline(HeadPipeline[TextRow, O, A]):
    """A model of single texts or of text pairs."""

    row = TextRow
    inputs = ("text", "second")

    @property
    def texts(self) -> int:
        """The number of texts of a row: one, or two."""
        return TextFacts.read(self.bundle).texts

    def check(self, row: TextRow, options: O, where: str) -> None:
        """Refuse another number of texts than the model takes, and what is not text."""
        if len(row.texts) != self.texts:
            what = "one text" if self.texts == 1 else "text pairs"
            raise DataError(f"{where}: this model takes {what}, but {len(row.texts)} were given.")
        for text in row.texts:
            check_text(text, where)

    def predict(self, rows: Sequence[TextRow], options: O, progress: Progress = SILENT) -> list[A]:
        """Return the result of each row."""
        encoded = self.encode(rows)
        outputs = zip(rows, self._scores(encoded, progress), encoded.is_truncated.tolist(), strict=True)
        return [self.result(*each, options) for each in outputs]

    def encode(self, rows: Sequence[TextRow], progress: Progress = SILENT) -> "EncodedExamples":
        """Return rows as ids, stripped as in training."""
        stripped = [tuple(text.strip() for text in row.texts) for row in rows]
        return encode_rows(self.bundle, stripped, [0] * len(rows), progress)

    @abstractmethod
    def result(self, row: TextRow, scores: Scores, is_truncated: bool, options: O) -> A:
        """Return the result of a row from the outputs of the head."""
