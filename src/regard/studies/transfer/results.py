"""The results of a transfer study in one value."""

import statistics
from collections.abc import Sequence
from typing import Any

from regard.studies.folder import FORMAT
from regard.studies.transfer.folder import Transfer, TransferRun
from regard.studies.transfer.methods import METHODS
from regard.studies.transfer.split import TransferSplit
from regard.version import __version__


def collect(
    transfer: Transfer,
    asked: dict[str, Any],
    cells: Sequence[TransferRun],
    split: TransferSplit,
    pretraining: dict[str, Any],
    failed: dict[str, str],
) -> dict[str, Any]:
    """Return the results of a transfer study as plain values."""
    done = {cell: metrics for cell in cells if (metrics := transfer.metrics(cell)) is not None}
    return {
        "format": FORMAT,
        "name": transfer.path.name,
        "regard": __version__,
        "is_finished": len(done) == len(cells),
        "done": len(done),
        "of": len(cells),
        "data": asked["data"]["path"],
        "methods": asked["methods"],
        "sizes": asked["sizes"],
        "seeds": asked["seeds"],
        "pretrained": asked["pretrained"],
        "pretraining": pretraining,
        "train_examples": len(split.train),
        "valid_examples": len(split.valid),
        "test_examples": len(split.test),
        "failed": failed,
        "table": [_row(method, asked["sizes"], done) for method in asked["methods"]],
        "cells": [
            {"method": cell.method, "size": cell.size, "seed": cell.seed} | metrics for cell, metrics in done.items()
        ],
        "machine": next((metrics["machine"] for metrics in done.values()), None),
    }


def _row(method: str, sizes: Sequence[int | None], done: dict[TransferRun, dict[str, Any]]) -> dict[str, Any]:
    """Return the means of a method over its seeds, by size."""
    own = {cell: metrics for cell, metrics in done.items() if cell.method == method}
    return {
        "method": method,
        "about": METHODS[method].about,
        "parameters": max((each["parameters"] for each in own.values()), default=None),
        "trainable_parameters": max((each["trainable_parameters"] for each in own.values()), default=None),
        "by_size": [_means([each for cell, each in own.items() if cell.size == size]) for size in sizes],
    }


def _means(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    values = [each["accuracy"] for each in runs]
    return {
        "seeds": len(values),
        "accuracy": statistics.fmean(values) if values else None,
        "spread": statistics.stdev(values) if len(values) > 1 else None,
        "seconds": statistics.fmean(each["seconds"] for each in runs) if runs else None,
        "mix": runs[0].get("mix") if runs else None,
    }
