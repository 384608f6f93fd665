"""What all pipelines over a model with a head have in common."""

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

TOKENS_AT_ONCE = {"cpu": 8192, "cuda": 65536}

Lines = Sequence[int] | None


def frame_of(bundle: Bundle) -> SequenceTemplate:
    """Return what stands around the texts that a model reads."""
    return SequenceTemplate.of(bundle.tokenizers["tokenizer"], is_bidirectional(bundle.settings.family))


def encode_pairs(
    bundle: Bundle, texts: Sequence[Sequence[str]], labels: Sequence[Any], progress: Progress = SILENT
) -> EncodedExamples:
    """Return texts, or pairs of them, as a model with a head over whole texts reads them."""
    tokenizer, limit = bundle.tokenizers["tokenizer"], int(bundle.facts["max_length"])
    found = encode_texts(texts, labels, tokenizer, frame_of(bundle), limit, bundle.facts["pair_encoding"], progress)
    return replace(found, looks_at_all=bundle.head is not None and bundle.head.pooling != "token")


class HeadPipeline:
    """A model with a head, and its tokenizer."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.model: Any = bundle.model
        self.tokenizer = bundle.tokenizers["tokenizer"]
        self.frame = frame_of(bundle)
        self.device = next(bundle.model.parameters()).device
        self.max_length = int(bundle.facts["max_length"])
        """Tokens of a sequence at most, with those around and between texts."""

    @property
    def config(self) -> dict[str, Any]:
        """The settings of the model and what its task remembers."""
        return {"model": self.bundle.settings.model_dump(), **self.bundle.facts}

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of the table it has learned from, as settings call them; none where there was no table."""
        return dict(self.bundle.facts.get("columns", {}))

    @property
    def mix(self) -> dict[str, float] | None:
        """How much each layer of an ELMo counts for this task, and by how much all are scaled; None for others."""
        found: dict[str, float] | None = self.model.layer_shares
        return found

    @property
    def batch_tokens(self) -> int:
        """Padded tokens that are read together."""
        return TOKENS_AT_ONCE.get(self.device.type, TOKENS_AT_ONCE["cpu"])

    def _scores(self, examples: Encoded, progress: Progress) -> list[Scores]:
        with exclusive(self.model):
            return head_outputs(self.model, examples, self.device, self.batch_tokens, progress)


def as_texts(given: Any, where: str) -> tuple[str, ...]:
    """Return one text, or those of a pair; what is no text (an empty cell of a data frame, a number) is refused."""
    found = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, tuple | list) else (None,)
    if not all(isinstance(text, str) for text in found):
        raise DataError(f"{where} is no text but {given!r}; leave it out, or give it as text.")
    return found


def check_texts(texts: Sequence[str], where: str) -> None:
    """Refuse what holds no words."""
    for text in texts:
        if not text.strip():
            raise DataError(f"{where} is empty; give it words.")
        if not is_text(text):
            raise DataError(f"{where} is not UTF-8 text; convert it first.")


def check_count(texts: Sequence[str], wanted: int, where: str, verb: str) -> None:
    """Refuse a text where a pair belongs, and the reverse."""
    if len(texts) != wanted:
        what = "one text" if wanted == 1 else "pairs of texts"
        raise DataError(f"{where}: this model {verb} {what}, and here are {len(texts)}.")
