"""The files of a transfer study: a damaged one is one sentence, and metrics of other types are computed again."""

import json

import pytest

from regard.errors import RunError
from regard.studies.transfer.folder import Transfer, TransferRun, claim_transfer
from regard.studies.transfer.records import TransferResults

METRICS = {"accuracy": 0.5, "seconds": 1.0, "parameters": 3, "trainable_parameters": 2, "machine": {}}
WRONG_TYPES = [None, [], {}, "x", 1.5, -1, True, [[1]]]


def refusal(call) -> str:
    with pytest.raises(RunError) as error:
        call()
    assert "\n" not in str(error.value) and str(error.value).endswith(".")
    return str(error.value)


def test_metrics_of_a_run_are_of_their_types_or_none(tmp_path):
    transfer = claim_transfer(tmp_path / "it", {"seeds": 1}, overwrite=False)
    cell = TransferRun("bert", 20, 1)
    transfer.store(cell, METRICS)
    assert transfer.metrics(cell) == METRICS
    path = transfer.path / "cells" / "bert-20-1.json"
    for field in METRICS:
        for value in [each for each in WRONG_TYPES if not (field == "machine" and each == {})]:
            if field in ("accuracy", "seconds") and isinstance(value, int | float) and not isinstance(value, bool):
                continue
            path.write_text(json.dumps(METRICS | {field: value}))
            assert transfer.metrics(cell) is None


def test_the_record_of_a_transfer_is_of_its_types(tmp_path):
    claim_transfer(tmp_path / "it", {"seeds": 1}, overwrite=False)
    for value in [each for each in WRONG_TYPES if each != {}]:
        (tmp_path / "it" / "transfer.json").write_text(json.dumps({"format": 2, "asked": value}))
        assert "transfer.json: this is not the record of a transfer" in refusal(
            lambda: Transfer(tmp_path / "it").record
        )


def test_the_runs_of_a_study_are_ordered_by_size(tmp_path):
    asked = {"sizes": [10, None], "seeds": 2, "methods": ["scratch", "elmo"]}
    names = [run.name for run in Transfer(tmp_path).cells(asked)]
    assert names[:4] == ["scratch-10-1", "elmo-10-1", "scratch-10-2", "elmo-10-2"]
    assert len(set(names)) == 8 and names[-1] == "elmo-all-2"


def test_the_table_of_results_has_a_column_for_each_size():
    row = {"method": "elmo", "trainable_parameters": 3, "by_size": []}
    results = {"is_finished": True, "done": 1, "of": 1, "sizes": [5], "seeds": 1, "train_examples": 9, "failed": {}}
    with pytest.raises(ValueError, match="table has not a column for each of the sizes"):
        TransferResults.model_validate(results | {"table": [row]})
    means = {"seeds": 1, "accuracy": 0.5, "spread": None, "seconds": 1.0}
    TransferResults.model_validate(results | {"table": [row | {"by_size": [means]}]})
