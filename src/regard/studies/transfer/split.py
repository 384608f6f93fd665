"""The same examples for everybody: some to be scored on, some to watch, and more and more to learn from."""

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

TEST_SHARE, VALID_SHARE = 0.2, 0.1
"""Shares of the examples that are scored on, and of the rest that are watched, where no others are named."""
MOST_WATCHED = 400
"""Examples that are watched at most: every run looks at them several times."""
LEAST = 20
"""Examples under which nothing can be compared."""


class TransferSplit:
    """The sets of a transfer, as files that every run reads."""

    def __init__(self, folder: Path, place: LabelSource, test: LabelSource | None, progress: Progress) -> None:
        self.folder = folder
        found = list(dict.fromkeys(read_set(TASK, place, ExampleReport(), progress)))
        if len(found) < LEAST:
            raise DataError(f"{place.name}: {len(found)} examples are too few to compare; give {LEAST} or more.")
        TASK.labels(found, place.name)
        first = lambda each: each.texts[0]
        if test is None:
            found, tested = hold_out(found, TEST_SHARE, first, what="example")
        else:
            tested = list(dict.fromkeys(read_set(TASK, test, ExampleReport(), progress)))
            seen = {each.texts for each in tested}
            found = [each for each in found if each.texts not in seen]  # nothing that is tested is learned
        # Another hash than before: of those that are left, none has a low one.
        again = lambda each: f"valid {each.texts[0]}"
        self.train, self.valid = hold_out(found, VALID_SHARE, again, MOST_WATCHED, "example")
        self.test = tested
        folder.mkdir(exist_ok=True)
        for name, examples in (("test", self.test), ("valid", self.valid)):
            self._write(name, examples)

    def check(self, sizes: Sequence[int | None]) -> None:
        """Refuse sizes that there are not enough examples for."""
        for size in sizes:
            if size is not None and size > len(self.train):
                raise ConfigError(
                    f"--sizes: {size:,} examples are more than the {len(self.train):,} there are to learn from "
                    f"({len(self.test):,} are tested on, {len(self.valid):,} watched); lower it, or say all."
                )

    def place(self, name: str) -> Path:
        """Return the file of a set."""
        return self.folder / f"{name}.jsonl"

    def learned(self, size: int | None, seed: int) -> Path:
        """Return the file with so many training examples, drawn by the seed: the same for every method.

        A smaller set of a seed is part of its larger ones, and every label has its share.
        """
        if size is None:
            return self._write("train-all", self.train)
        order = np.random.default_rng([seed, len(self.train)]).permutation(len(self.train))
        chosen = _in_shares([self.train[row] for row in order])[:size]
        return self._write(f"train-{size}-{seed}", chosen)

    def _write(self, name: str, examples: Sequence[LabeledRow]) -> Path:
        path = self.place(name)
        second = lambda each: {"second": each.texts[1]} if len(each.texts) == 2 else {}
        rows: list[dict[str, Any]] = [{"text": e.texts[0], **second(e), "label": e.label} for e in examples]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)
        return path


def _in_shares(examples: Sequence[LabeledRow]) -> list[LabeledRow]:
    """Return examples in an order of which any beginning has labels in about the same shares as the whole."""
    by_label: dict[str, list[LabeledRow]] = {}
    for each in examples:
        by_label.setdefault(each.label, []).append(each)
    placed = [
        ((number + 0.5) / len(own), label, each)
        for label, own in sorted(by_label.items())
        for number, each in enumerate(own)
    ]
    return [each for _, _, each in sorted(placed, key=lambda item: item[:2])]
