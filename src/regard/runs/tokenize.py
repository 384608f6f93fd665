"""The text of a run tokenized before it trains, by any number of processes and hosts at once."""

from dataclasses import dataclass, replace
from pathlib import Path

from regard.data.corpus.corpus import TextCounts
from regard.data.corpus.splits import TextSplits
from regard.data.settings.text import TextData
from regard.errors import ConfigError
from regard.models.base.settings import ModelSettings
from regard.progress import SILENT, Progress
from regard.tasks.contract import find_task
from regard.tasks.init_from import run_context
from regard.tasks.settings import RunSettings
from regard.tasks.text.corpora import corpus_folder, corpus_sets
from regard.training.device.machine import prepare_machine


@dataclass(frozen=True)
class TokenizedText:
    """The tokenized text of a run."""

    folder: Path
    sets: dict[str, TextCounts]

    @property
    def lines(self) -> list[str]:
        """It in words: a line for each set."""
        return [
            f"{self.folder}: {name}, {counts.documents:,} documents, {counts.tokens:,} tokens."
            for name, counts in self.sets.items()
        ]


def tokenize_run(settings: RunSettings[ModelSettings], progress: Progress = SILENT) -> TokenizedText:
    """Tokenize the text of a run beside all others that do the same; report and return its sizes."""
    data = settings.data
    if not isinstance(data, TextData) or getattr(data.train, "path", None) is not None:
        raise ConfigError(
            f"--tokenize-only: data of the task {settings.task} are tokenized in memory when a run begins; it is for "
            "running text (--text)."
        )
    context = replace(run_context(settings, prepare_machine(settings.machine), progress), shares=True)
    loaded = find_task(settings.task).load_data(settings, context)
    corpora = getattr(loaded, "corpora", loaded)
    assert isinstance(corpora, TextSplits), "tasks on running text have splits of it"
    folder = corpus_folder(data, getattr(settings, "text"), settings.init_from)  # noqa: B009 (each task has its own)
    made = TokenizedText(folder, {name: corpus.counts for name, corpus in corpus_sets(corpora).items()})
    for line in made.lines:
        progress.info(line)
    return made
