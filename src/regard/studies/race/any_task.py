"""The choice of the discipline of a race."""

from regard.models.base.family import Kind
from regard.studies.race.disciplines import Discipline
from regard.studies.race.text_report import TextRace
from regard.studies.race.translating import TranslationRace
from regard.tasks.contract import AnyTask

BY_KIND: dict[Kind, type[Discipline]] = {"seq2seq": TranslationRace, "causal-lm": TextRace}
"""Disciplines with measurements of their own, by the default kind of model."""


def discipline(task: AnyTask) -> Discipline:
    """Return the discipline of the races of a task."""
    return Discipline() if task.files.heads else BY_KIND.get(task.files.kinds[0], Discipline)()
