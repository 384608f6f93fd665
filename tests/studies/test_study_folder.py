"""The folder of a study, whatever its kind."""

import pytest

from regard.errors import RunError
from regard.studies.folder import StudyFolder, StudyRecord, listed


class NumberRecord(StudyRecord):
    number: int


class Study(StudyFolder):
    kind = "trial"
    part = "run"
    results_schema = NumberRecord
    folders = ("runs", "data")


@pytest.fixture
def study(tmp_path):
    (tmp_path / "trial.json").write_text('{"format": 2, "number": 7}')
    return Study(tmp_path)


def refusal(call) -> str:
    with pytest.raises(RunError) as error:
        call()
    return str(error.value)


def test_a_record_is_read_by_its_schema_and_version(study, tmp_path):
    assert study.exists and study.read_as(NumberRecord).number == 7
    study.file.write_text('{"format": 1, "number": 7}')
    assert refusal(lambda: study.read_as(NumberRecord)).endswith("can read (format is 1, not 2).")
    other = Study(tmp_path / "nowhere")
    assert not other.exists
    assert (
        refusal(lambda: other.read_as(NumberRecord))
        == f"{other.path}: there is no trial here (trial.json is missing); check the path."
    )


def test_results_are_missing_until_a_part_has_finished(study):
    assert refusal(lambda: study.results) == (
        f"{study.path}: no run of this trial has finished yet; resume it with the same command."
    )


def test_a_different_request_is_refused_with_the_difference(study):
    assert refusal(lambda: study.refuse("number is 7, not 8")) == (
        f"{study.path}: there is a trial here already, with a different request (number is 7, not 8); repeat the "
        "original request to resume it, replace it with --overwrite, or choose another folder with --out."
    )


def test_only_a_free_folder_is_accepted(study, tmp_path):
    (tmp_path / "empty").mkdir()
    Study(tmp_path / "empty").check_free()
    Study(tmp_path / "new").check_free()
    assert "this exists and is not a trial" in refusal(study.check_free)


def test_clearing_removes_the_files_of_the_study_alone(study):
    for name in ("runs", "data", "mine"):
        (study.path / name).mkdir()
        (study.path / name / "file.txt").write_text("x")
    for name in ("plot.png", "results.json", "report.html", "notes.txt"):
        (study.path / name).write_text("x")
    study.clear()
    assert sorted(path.name for path in study.path.iterdir()) == ["mine", "notes.txt"]


def test_values_are_listed_with_commas():
    assert listed([1, "a", None]) == "1, a, None"
