"""Stable names for packages that add tasks, model families or exporters by entry points."""

from pydantic import Field

from regard.checkpoint.bundle import Bundle
from regard.config.schema import Doc, FieldSpec, fields_of
from regard.config.settings import Settings
from regard.errors import CheckpointError, ConfigError, DataError, RegardError, RunError
from regard.models.base.family import Family, Preset
from regard.models.base.settings import ModelSettings
from regard.nn.probes.probe import Probe
from regard.nn.probes.trace import Trace
from regard.pipelines.base import Options, Pipeline, Result
from regard.progress import Progress
from regard.runs.export.exporters import Exported, Exporter
from regard.tasks.contract import Task
from regard.tasks.data import EvalSet, Prepared
from regard.tasks.declarations import (
    Check,
    Context,
    EvaluateOptions,
    InitFrom,
    LoadOptions,
    LossCurve,
    Metric,
    Operation,
    Wording,
)
from regard.tasks.evaluation import Evaluation
from regard.tasks.findings import Finding
from regard.tasks.finetune.base import HeadTask
from regard.tasks.finetune.pipeline import HeadPipeline
from regard.tasks.finetune.records import HeadFacts, LabelFacts, TextFacts
from regard.tasks.finetune.rows import RowTask

__all__ = [
    "Bundle",
    "Check",
    "CheckpointError",
    "ConfigError",
    "Context",
    "DataError",
    "Doc",
    "EvalSet",
    "EvaluateOptions",
    "Evaluation",
    "Exported",
    "Exporter",
    "Family",
    "Field",
    "FieldSpec",
    "Finding",
    "HeadFacts",
    "HeadPipeline",
    "HeadTask",
    "InitFrom",
    "LabelFacts",
    "LoadOptions",
    "LossCurve",
    "Metric",
    "ModelSettings",
    "Operation",
    "Options",
    "Pipeline",
    "Prepared",
    "Preset",
    "Probe",
    "Progress",
    "RegardError",
    "Result",
    "RowTask",
    "RunError",
    "Settings",
    "Task",
    "TextFacts",
    "Trace",
    "Wording",
    "fields_of",
]
