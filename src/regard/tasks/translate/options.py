"""Rows and options of a translator's calls."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import model_validator

from regard.config.schema import Doc
from regard.decoding.settings import AnyTranslationDecoding, MaskPredictDecoding, TranslationDecoding
from regard.pipelines.base import Options
from regard.pipelines.generation import GenerationOptions


@dataclass(frozen=True)
class SourceRow:
    """A text to translate."""

    source: Annotated[str, Doc("The text to translate.")]
    prefix: Annotated[str | None, Doc("Text that this translation is forced to begin with.")] = None


@dataclass(frozen=True)
class SourceAndTarget:
    """A text, and a translation of it to inspect."""

    source: Annotated[str, Doc("The text.")]
    target: Annotated[str | None, Doc("Its translation (default: the model's own).")] = None


class AnyTranslateOptions(AnyTranslationDecoding, GenerationOptions):
    """Options of every translator."""

    paragraphs: bool = False
    """Translate texts of several sentences: split, translated one by one, and rejoined with their white space."""

    @property
    def streams(self) -> bool:
        """True where a call has one output, which can be shown while it is generated."""
        return super().streams and not self.paragraphs

    @model_validator(mode="after")
    def _paragraphs_have_one_output(self) -> "AnyTranslateOptions":
        for name in ("n_best", "prefix"):
            if self.paragraphs and (value := getattr(self, name, None)):
                raise ValueError(f"{name}: {value} is for single sentences; omit it, or paragraphs.")
        return self


class TranslateOptions(TranslationDecoding, AnyTranslateOptions):
    """Options of translation token by token."""

    prefix: str | None = None
    """Text that every translation is forced to begin with."""

    @model_validator(mode="before")
    @classmethod
    def _n_best_are_sampled(cls, values: object) -> object:
        if isinstance(values, dict) and values.get("n_best") and values.get("method") == "sample":
            return {"num_samples": values["n_best"], **values}
        return values

    @model_validator(mode="after")
    def _n_best_are_there(self) -> "TranslateOptions":
        if self.n_best is not None and self.n_best > self.hypotheses:
            name = "beam_size" if self.method == "beam" else "num_samples"
            raise ValueError(f"n_best: {self.n_best} is more than {name} {self.hypotheses}; raise that.")
        return self


class MaskPredictOptions(MaskPredictDecoding, AnyTranslateOptions):
    """Options of a mask-predict translator."""

    @model_validator(mode="after")
    def _n_best_are_there(self) -> "MaskPredictOptions":
        if self.n_best is not None and self.n_best > self.length_candidates:
            raise ValueError(
                f"n_best: {self.n_best} is more than length_candidates {self.length_candidates}; raise that."
            )
        return self


class PairScoreOptions(AnyTranslationDecoding, Options):
    """Options of scoring given translations."""
