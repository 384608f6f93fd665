"""The base of all pipelines of models with a head."""

from collections.abc import Sequence
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

Lines = Sequence[int] | None


def frame_of(bundle: Bundle) -> SequenceTemplate:
    """Return the special tokens around the texts of a model."""
    return SequenceTemplate.of(bundle.tokenizers["tokenizer"], is_bidirectional(bundle.settings.family))


def encode_pairs(
    bundle: Bundle, texts: Sequence[Sequence[str]], labels: Sequence[Any], progress: Progress = SILENT
) -> EncodedExamples:
    """Return texts, or pairs of them, as ids of a model with a head over whole texts."""
    facts = TextFacts.read(bundle)
    template, tokenizer = frame_of(bundle), bundle.tokenizers["tokenizer"]
    encoded = encode_texts(texts, labels, tokenizer, template, facts.max_length, facts.pair_encoding, progress)
    return replace(encoded, looks_at_all=bundle.head is not None and bundle.head.pooling != "token")


class HeadPipeline:
    """A model with a head, and its tokenizer."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.model: Any = bundle.model
        self.tokenizer = bundle.tokenizers["tokenizer"]
        self.frame = frame_of(bundle)
        self.device = next(bundle.model.parameters()).device
        self.max_length = HeadFacts.read(bundle).max_length
        """Maximum length of a sequence in tokens, special tokens included."""

    @property
    def config(self) -> dict[str, Any]:
        """The settings of the model and the facts of its task."""
        return {"model": self.bundle.settings.model_dump(), **self.bundle.facts}

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of the table it was trained on, as settings name them; none where there was no table."""
        return dict(HeadFacts.read(self.bundle).columns)

    @property
    def mix(self) -> dict[str, float] | None:
        """The weight of each layer of an ELMo for this task, and the scale of all; None for other models."""
        weights: dict[str, float] | None = self.model.layer_shares
        return weights

    @property
    def batch_tokens(self) -> int:
        """Padded tokens that are computed together."""
        return BATCH_TOKENS.get(self.device.type, BATCH_TOKENS["cpu"])

    def _scores(self, examples: Encoded, progress: Progress) -> list[Scores]:
        with exclusive(self.model):
            return head_outputs(self.model, examples, self.device, self.batch_tokens, progress)


def as_texts(given: Any, where: str) -> tuple[str, ...]:
    """Return one text, or those of a pair; anything else (an empty cell of a data frame, a number) is refused."""
    texts = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, tuple | list) else (None,)
    if not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where} is {given!r} and not text; leave it out, or give it as text.")
    return texts


def check_texts(texts: Sequence[str], where: str) -> None:
    """Refuse what holds no words."""
    for text in texts:
        if not text.strip():
            raise DataError(f"{where} is empty; give it words.")
        if not is_text(text):
            raise DataError(f"{where} is not UTF-8 text; convert it first.")


def check_count(texts: Sequence[str], wanted: int, where: str) -> None:
    """Refuse a text where a pair belongs, and the reverse."""
    if len(texts) != wanted:
        what = "one text" if wanted == 1 else "pairs of texts"
        raise DataError(f"{where}: this model takes {what}, and here are {len(texts)}.")
