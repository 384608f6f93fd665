"""Facts in the checkpoint of a classifier."""

from typing import Annotated

from pydantic import Field

from regard.tasks.classify.settings import MULTI_LABEL, SINGLE_LABEL, THRESHOLD, ProblemType
from regard.tasks.finetune.records import LabelFacts, TextFacts


class ClassifyFacts(TextFacts, LabelFacts):
    """Facts of a classifier: its labels, whether a text may have several, and its texts per example."""

    problem_type: ProblemType = SINGLE_LABEL
    threshold: Annotated[float, Field(gt=0, lt=1)] = THRESHOLD
    """Probability from which a multi-label model assigns a label."""

    @property
    def is_multi_label(self) -> bool:
        """A text may have several labels, or none."""
        return self.problem_type == MULTI_LABEL
