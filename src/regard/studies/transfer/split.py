"""The split of a transfer study: one test and one validation set, and nested training sets of several sizes."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from regard.checkpoint.atomic import write_text
from regard.data.cleaning import hold_out
from regard.data.settings.examples import LabelSource
from regard.data.sources.labeled import LabeledRow
from regard.errors import ConfigError, DataError
from regard.progress import Progress
from regard.tasks.classify.task import TASK
from regard.tasks.finetune.data import ExampleReport, read_set

TEST_FRACTION, VALID_FRACTION = 0.2, 0.1
"""Fraction of the examples held out for testing, and of the rest for validation."""
MAX_VALID = 400
"""Maximum size of the validation set, which every run evaluates several times."""
MIN_EXAMPLES = 20
"""Minimum number of examples of a study."""


class TransferSplit:
    """The sets of a transfer study, as files that every run reads."""

    def __init__(self, folder: Path, source: LabelSource, test: LabelSource | None, progress: Progress) -> None:
        self.folder = folder
        rows = list(dict.fromkeys(read_set(TASK, source, ExampleReport(), progress)))
        if len(rows) < MIN_EXAMPLES:
            raise DataError(
                f"{source.name}: {len(rows)} examples are too few to compare; give {MIN_EXAMPLES} or more."
            )
        TASK.labels(rows, source.name)
        if test is None:
            rows, self.test = hold_out(rows, TEST_FRACTION, lambda row: row.texts[0], what="example")
        else:
            self.test = list(dict.fromkeys(read_set(TASK, test, ExampleReport(), progress)))
            test_texts = {row.texts for row in self.test}
            rows = [row for row in rows if row.texts not in test_texts]  # no test example in the training set
        # A different hash than that of the test set, whose low values are gone.
        key = lambda row: f"valid {row.texts[0]}"
        self.train, self.valid = hold_out(rows, VALID_FRACTION, key, MAX_VALID, "example")
        folder.mkdir(exist_ok=True)
        for name, examples in (("test", self.test), ("valid", self.valid)):
            self._write(name, examples)

    def check(self, sizes: Sequence[int | None]) -> None:
        """Refuse sizes larger than the training set."""
        for size in sizes:
            if size is not None and size > len(self.train):
                raise ConfigError(
                    f"--sizes: {size:,} examples are more than the {len(self.train):,} training examples "
                    f"({len(self.test):,} are held out for testing, {len(self.valid):,} for validation); lower it, "
                    f"or give all."
                )

    def path(self, name: str) -> Path:
        """Return the file of a set."""
        return self.folder / f"{name}.jsonl"

    def training_set(self, size: int | None, seed: int) -> Path:
        """Return the file of that many training examples, sampled by the seed: the same for every method.

        A smaller set of a seed is a subset of its larger ones, and the label distribution is kept.
        """
        if size is None:
            return self._write("train-all", self.train)
        order = np.random.default_rng([seed, len(self.train)]).permutation(len(self.train))
        chosen = _stratified([self.train[row] for row in order])[:size]
        return self._write(f"train-{size}-{seed}", chosen)

    def _write(self, name: str, examples: Sequence[LabeledRow]) -> Path:
        path = self.path(name)
        second = lambda each: {"second": each.texts[1]} if len(each.texts) == 2 else {}
        rows: list[dict[str, Any]] = [{"text": e.texts[0], **second(e), "label": e.label} for e in examples]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)
        return path


def _stratified(examples: Sequence[LabeledRow]) -> list[LabeledRow]:
    """Return examples in an order whose every prefix has about the same label distribution."""
    by_label: dict[str, list[LabeledRow]] = {}
    for each in examples:
        by_label.setdefault(each.label, []).append(each)
    placed = [
        ((number + 0.5) / len(own), label, each)
        for label, own in sorted(by_label.items())
        for number, each in enumerate(own)
    ]
    return [each for _, _, each in sorted(placed, key=lambda item: item[:2])]
