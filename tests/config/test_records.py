"""A file of ours that is damaged is one sentence with path and field."""

import os
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, Field

from regard.config.names import FileName, RelativePath, inside
from regard.config.records import Record, check_record, read_record, read_text_file, read_value
from regard.errors import CheckpointError


class Inner(Record):
    value: float | None


class Outer(Record):
    name: FileName
    inner: dict[FileName, Inner] = Field(default_factory=dict)
    files: list[RelativePath] = Field(default_factory=list)


def refusal(path, text) -> str:
    path.write_text(text)
    with pytest.raises(CheckpointError) as caught:
        read_record(path, Outer, CheckpointError, "an index of checkpoints", "copy it again")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "line 1: Expecting property name enclosed in double quotes"),
        ("[]", "[] is not a JSON object"),
        ("{}", "name is missing"),
        ('{"name": 5}', "name: 5 is not text"),
        ('{"name": "a", "inner": {"b": {"value": "x"}}}', 'inner.b.value: "x" is not a number'),
        ('{"name": "a/b"}', 'name: "a/b" is not the name of a file in this folder'),
        (
            '{"name": "a", "files": ["b/c", "b/../../c"]}',
            'files.1: "b/../../c" leads out of its folder, or is not a file name',
        ),
        ("[" * 5_000, "nested more than 100 levels deep"),
    ],
)
def test_a_mistake_names_the_path_the_field_and_the_way_out(tmp_path, text, reason):
    path = tmp_path / "index.json"
    assert refusal(path, text) == f"{path}: this is not an index of checkpoints ({reason}); copy it again."


def test_bytes_and_files_of_other_kinds_are_refused(tmp_path):
    path = tmp_path / "index.json"
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(CheckpointError, match="not UTF-8"):
        read_record(path, Outer, CheckpointError, "an index")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(CheckpointError, match="not a plain file"):
        read_record(path, Outer, CheckpointError, "an index")


def test_fields_of_later_versions_are_kept(tmp_path):
    path = tmp_path / "index.json"
    path.write_text('{"name": "a", "more": [1]}')
    assert read_record(path, Outer, CheckpointError, "an index").model_dump()["more"] == [1]


@pytest.mark.parametrize(
    "name",
    ["../a", "a/../../b", "/etc/passwd", "..", ".", "", "C:\\a", "a\\..\\b", "a\x00b", "c:", "x" * 300, "\ud800"],
)
def test_no_name_leads_out_of_its_folder(tmp_path, name):
    with pytest.raises(CheckpointError):
        inside(tmp_path, name, tmp_path / "list.json", CheckpointError)


@pytest.mark.parametrize("name", ["a", "00000010-1", "training/state.json", ".hidden", "ü ber", "a..b"])
def test_plain_names_stay(tmp_path, name):
    assert inside(tmp_path, name, "", CheckpointError) == tmp_path / name


def test_a_file_without_a_record_is_checked_too(tmp_path):
    path = tmp_path / "vocab.json"
    path.write_text('{"a": 0, "b": "x"}')
    with pytest.raises(CheckpointError) as caught:
        read_value(path, dict[str, int], CheckpointError, "a vocabulary", "copy it again")
    assert str(caught.value) == f'{path}: this is not a vocabulary (b: "x" is not a whole number); copy it again.'
    path.write_text('{"a": 0}')
    assert read_value(path, dict[str, int], CheckpointError, "a vocabulary") == {"a": 0}
    assert read_text_file(path, CheckpointError, "a vocabulary") == '{"a": 0}'
    with pytest.raises(FileNotFoundError):
        read_text_file(tmp_path / "none", CheckpointError, "a vocabulary")


def test_a_validator_may_repeat_text_that_is_none():
    def refuse(value):
        raise ValueError(f"{value} is odd")

    class Odd(Record):
        name: Annotated[Any, AfterValidator(refuse)]

    with pytest.raises(CheckpointError, match=r"^x: this is not a record \(a text with a lone surrogate\)\.$"):
        check_record({"name": "\ud800"}, "x", Odd, CheckpointError, "a record")


def test_a_name_that_is_wrong_is_told_once(tmp_path):
    path = tmp_path / "index.json"
    assert refusal(path, '{"name": "a", "inner": {"../b": {"value": 1.0}}}') == (
        f'{path}: this is not an index of checkpoints (inner: "../b" is not the name of a file in this folder); '
        "copy it again."
    )
