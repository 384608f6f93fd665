"""From a recipe to a run, and from a run to figures."""

from regard.studies.doctor.examine import doctor
from regard.studies.doctor.findings import Finding, Report
from regard.studies.evaluate import Evaluation, evaluate, evaluate_run
from regard.studies.plan import Plan, plan_run, preset_parameters
from regard.studies.recipes import Recipe, find_recipe, resolve_run, shipped
from regard.studies.run import Run
from regard.studies.train import resume, train

__all__ = [
    "Evaluation",
    "Finding",
    "Plan",
    "Recipe",
    "Report",
    "Run",
    "doctor",
    "evaluate",
    "evaluate_run",
    "find_recipe",
    "plan_run",
    "preset_parameters",
    "resolve_run",
    "resume",
    "shipped",
    "train",
]
