"""From a recipe to a run, and from a run to figures."""

from regard.studies.average import Average, average
from regard.studies.card import write_card
from regard.studies.compare import Comparison, compare
from regard.studies.doctor.examine import doctor
from regard.studies.doctor.findings import Finding, Report
from regard.studies.elmo.scores import measure_elmo
from regard.studies.evaluate import Evaluation, evaluate, evaluate_run
from regard.studies.features import FeatureRow, FeatureSettings, measure_features
from regard.studies.masked_scores import MaskedEvaluation, measure_masked
from regard.studies.measure import Outcome, measure
from regard.studies.passport import Passport, decoding_words, read_passport
from regard.studies.plan import LabelPlan, Plan, TextPlan, WordPlan, plan_run, preset_parameters
from regard.studies.race.board import Standing
from regard.studies.race.budget import Budget, parse_budget
from regard.studies.race.disciplines import ranked
from regard.studies.race.execute import race
from regard.studies.race.folder import Race
from regard.studies.race.members import Lineup
from regard.studies.recipes import Recipe, find_recipe, resolve_run, shipped
from regard.studies.resume import resume
from regard.studies.run import Run
from regard.studies.runs import RunSummary, delete_run, list_runs
from regard.studies.text_scores import TextEvaluation, measure_text
from regard.studies.train import train
from regard.studies.transfer.execute import Question, transfer
from regard.studies.transfer.folder import Transfer
from regard.studies.tuning.measure import Measured, measure_labels
from regard.studies.verify import Verification, verify_resume
from regard.studies.weights import MeasuredCost, measure_weights_cost

__all__ = [
    "Average",
    "Budget",
    "Comparison",
    "Evaluation",
    "FeatureRow",
    "FeatureSettings",
    "Finding",
    "LabelPlan",
    "Lineup",
    "MaskedEvaluation",
    "Measured",
    "MeasuredCost",
    "Outcome",
    "Passport",
    "Plan",
    "Question",
    "Race",
    "Recipe",
    "Report",
    "Run",
    "RunSummary",
    "Standing",
    "TextEvaluation",
    "TextPlan",
    "Transfer",
    "Verification",
    "WordPlan",
    "average",
    "compare",
    "decoding_words",
    "delete_run",
    "doctor",
    "evaluate",
    "evaluate_run",
    "find_recipe",
    "list_runs",
    "measure",
    "measure_elmo",
    "measure_features",
    "measure_labels",
    "measure_masked",
    "measure_text",
    "measure_weights_cost",
    "parse_budget",
    "plan_run",
    "preset_parameters",
    "race",
    "ranked",
    "read_passport",
    "resolve_run",
    "resume",
    "shipped",
    "train",
    "transfer",
    "verify_resume",
    "write_card",
]
