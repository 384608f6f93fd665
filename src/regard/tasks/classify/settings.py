"""Settings of the task `classify`."""

from typing import Generic, Literal

from pydantic import Field, model_validator

from regard.data.settings.examples import ClassSource, ExampleData
from regard.tasks.finetune.settings import FineTuneSettings
from regard.tasks.settings import M

ProblemType = Literal["single_label_classification", "multi_label_classification"]
SINGLE_LABEL: ProblemType = "single_label_classification"
MULTI_LABEL: ProblemType = "multi_label_classification"
THRESHOLD = 0.5
"""Default probability from which a label is assigned."""
VALIDATED: dict[ProblemType, tuple[str, ...]] = {
    SINGLE_LABEL: ("accuracy", "macro_f1", "matthews"),
    MULTI_LABEL: ("micro_f1", "macro_f1", "exact_match"),
}
"""Metrics computed at every validation, by problem; the first one is that which runs are selected by."""


class ClassifySettings(FineTuneSettings[M], Generic[M]):
    """The settings of a run of a classifier."""

    task: Literal["classify"] = "classify"
    data: ExampleData[ClassSource]
    problem_type: ProblemType | None = None
    """Number of labels of a text. single_label_classification: one; multi_label_classification: several or none
    (default: multi-label for rows with lists of labels or a label_separator)."""
    threshold: float | None = Field(None, gt=0, lt=1)
    """Probability from which a multi-label model assigns a label (default: 0.5)."""
    pair_encoding: Literal["cross-encoder", "both-orders"] = "cross-encoder"
    """Encoding of text pairs. cross-encoder: as one sequence; both-orders: in both orders, for symmetric pairs."""

    @model_validator(mode="after")
    def _fits_its_problem(self) -> "ClassifySettings[M]":
        if self.problem_type == SINGLE_LABEL and self.threshold is not None:
            raise ValueError("threshold: one label is the most probable one; leave it out, or give lists of labels.")
        metric = self.train.select_by
        if self.problem_type is not None and metric not in ("loss", *VALIDATED[self.problem_type]):
            known = ", ".join(("loss", *VALIDATED[self.problem_type]))
            raise ValueError(
                f'train.select_by: "{metric}" is no metric of {self.problem_type}; choose one of {known}.'
            )
        return self
