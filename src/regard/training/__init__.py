"""One loop for every objective, with its optimizers, schedules, devices and reports."""

from regard.training.distributed import Team, join_team, leads
from regard.training.loop import Hooks, Reason, Trainer
from regard.training.machine import MICRO_BATCH_TOKENS, Machine, choose_device, prepare_machine, use_threads
from regard.training.reports import MetricsLog
from regard.training.schedules import learning_rate
from regard.training.settings import MachineSettings, TrainSettings
from regard.training.state import LoopState

__all__ = [
    "MICRO_BATCH_TOKENS",
    "Hooks",
    "LoopState",
    "Machine",
    "MachineSettings",
    "MetricsLog",
    "Reason",
    "Team",
    "TrainSettings",
    "Trainer",
    "choose_device",
    "join_team",
    "leads",
    "learning_rate",
    "prepare_machine",
    "use_threads",
]
