"""The record of a run: typed, complete for its state, and refused in one sentence otherwise."""

import json

import pytest

from regard.data.settings.pairs import PairData
from regard.errors import RunError
from regard.tasks.record import read_run_record
from regard.tasks.translate.records import PairReport
from translation_records import translation_record, translation_scores


@pytest.fixture
def read(tmp_path):
    """Return a function that writes a record and reads it again."""

    def read(**changes):
        record = {name: value for name, value in translation_record(**changes).items() if value != "gone"}
        (tmp_path / "run.json").write_text(json.dumps(record))
        return read_run_record(tmp_path, 2)

    return read


def refusal(call, **changes) -> str:
    with pytest.raises(RunError) as error:
        call(**changes)
    return str(error.value)


def test_a_record_is_typed_by_its_task_and_keeps_unknown_fields(read, tmp_path):
    record = read()
    assert record.path == tmp_path and record.is_prepared and isinstance(record.report, PairReport)
    assert record.report.train.dropped == {"empty": 1, "duplicate": 1} and record.report.train.held_out == 2
    assert record.settings.plain == translation_record()["settings"]
    assert record.machine.plain == {"device": "cpu", "threads": 2, "torch": "2.0"}
    assert record.settings.model.preset is None and record.data_wait_seconds == 0.0


def test_the_sources_of_the_data_become_settings_again(read):
    data = {"train": {"path": "a.tsv"}, "test": {}, "cleaning": {"max_tokens": 64}}
    settings = {"task": "translate", "model": {"family": "transformer"}, "train": {}, "data": data}
    assert read(settings=settings).data_settings(PairData).cleaning.max_tokens == 64
    settings["data"] = data | {"valid_fraction": 7}
    assert "(settings.data.valid_fraction: " in refusal(lambda: read(settings=settings).data_settings(PairData))


def test_a_run_in_preparation_needs_no_data(read, tmp_path):
    fields = ("started", "regard", "machine", "parameters", "data", "steps", "best_step", "seconds", "scores")
    record = read(state="preparing", **dict.fromkeys(fields, "gone"))
    assert not record.is_prepared
    assert refusal(lambda: record.report) == (
        f"{tmp_path}: this run has not begun to train (preparing); resume it with --resume."
    )


@pytest.mark.parametrize("field", ["machine", "parameters", "data", "started", "regard", "steps", "best_step"])
def test_a_finished_run_has_every_field(read, tmp_path, field):
    text = refusal(read, **{field: "gone"})
    assert text.startswith(f"{tmp_path / 'run.json'}: this is not the record of a run that this version of regard")
    assert f"{field} is missing" in text


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"format": 1}, "(format is 1, not 2)"),
        ({"started": "yesterday"}, '"yesterday" is not a date and time'),
        ({"started": "2024-05-01T10:00:00"}, '"2024-05-01T10:00:00" has no time zone'),
        ({"seconds": -1.0}, "(seconds: "),
        ({"updates": 1.5}, "(updates: "),
        ({"data": {"hash": "0"}}, "(data.train"),
        ({"scores": {"t": {"scores": []}}}, "(scores.t."),
        ({"scores": {"t": translation_scores() | {"loss": "low"}}}, "(scores.t.loss is not a number"),
        ({"task": "classify"}, "task is classify, but settings.task translate"),
        (
            {"task": "x", "settings": translation_record()["settings"] | {"task": "x"}},
            '(task: "x" is not one of translate, ',
        ),
    ],
)
def test_a_wrong_record_is_refused_with_the_field(read, changes, problem):
    text = refusal(read, **changes)
    assert problem in text and "\n" not in text


def test_what_is_no_object_is_refused_and_a_missing_file_is_the_caller_s(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_run_record(tmp_path, 2)
    (tmp_path / "run.json").write_text("[]")
    assert "run.json: this is not the record of a run" in refusal(lambda: read_run_record(tmp_path, 2))
