"""Regression pipeline: a number for a text, or the similarity of a text pair."""

from dataclasses import dataclass
from typing import Annotated

from regard.config.schema import Doc
from regard.pipelines.base import Options, Result
from regard.pipelines.head_scores import Scores
from regard.pipelines.inputs import TextRow
from regard.tasks.finetune.pipeline import TextPipeline
from regard.tasks.regress.records import RegressFacts


class RegressOptions(Options):
    """Options of regression: none."""


@dataclass(frozen=True)
class Regression(Result):
    """The predicted number of a text or text pair."""

    row: TextRow
    number: Annotated[float, Doc("The predicted number, in the units of the training set.")]
    is_truncated: Annotated[bool, Doc("The text was longer than the maximum length, and its end was left out.")]

    columns = ("number",)

    @property
    def text(self) -> str:
        """The number with four decimals."""
        return f"{self.number:.4f}"


class Regressor(TextPipeline[RegressOptions, Regression]):
    """Predicts a number for texts or text pairs."""

    options_class = RegressOptions

    def result(self, row: TextRow, scores: Scores, is_truncated: bool, options: RegressOptions) -> Regression:
        """Return the predicted number."""
        facts = RegressFacts.read(self.bundle)
        return Regression(row, facts.center + facts.spread * float(scores), is_truncated)
