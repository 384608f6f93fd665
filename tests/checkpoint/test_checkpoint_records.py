"""The schemas of a checkpoint's files refuse wrong types in one sentence."""

import json

import pytest

from regard.checkpoint.records import ConfigRecord, FileRecord, IndexRecord, check_settings, read_manifest
from regard.config.records import check_record
from regard.errors import CheckpointError
from small import small_settings

CONFIG = {
    "format": 2,
    "task": "translate",
    "model": {"family": "transformer"},
    "vocabularies": {"source": 40, "target": 40, "is_shared": True},
    "tokenizers": ["tokenizer"],
}


def message(call) -> str:
    with pytest.raises(CheckpointError) as error:
        call()
    return str(error.value)


def test_a_manifest_has_the_size_and_hash_of_each_file(tmp_path):
    entries = {"config.json": {"bytes": 3, "sha256": "ab"}, "training/state.json": {"bytes": 0, "sha256": "cd"}}
    (tmp_path / "manifest.json").write_text(json.dumps(entries))
    assert read_manifest(tmp_path) == {name: FileRecord(**entry) for name, entry in entries.items()}


@pytest.mark.parametrize("name", ["../config.json", "/etc/passwd", "a/../../b"])
def test_no_name_in_a_manifest_is_outside_of_the_folder(tmp_path, name):
    (tmp_path / "manifest.json").write_text(json.dumps({name: {"bytes": 3, "sha256": "ab"}}))
    text = message(lambda: read_manifest(tmp_path))
    assert text.startswith(f"{tmp_path / 'manifest.json'}: this is not the manifest of a checkpoint (")
    assert text.endswith("; copy it again.")


@pytest.mark.parametrize(
    "changes",
    [
        {"vocabularies": {"source": 0, "target": 40, "is_shared": True}},
        {"vocabularies": {"source": 2**31, "target": 40, "is_shared": True}},
        {"tokenizers": ["../tokenizer"]},
        {"format": "2"},
        {"model": {}},
    ],
)
def test_a_config_with_impossible_values_is_refused(tmp_path, changes):
    check_record(CONFIG, tmp_path, ConfigRecord, CheckpointError, "a config")
    assert message(
        lambda: check_record(CONFIG | changes, tmp_path, ConfigRecord, CheckpointError, "a config")
    ).startswith(f"{tmp_path}: this is not a config (")


def test_an_index_names_no_path(tmp_path):
    check_record({"kept": {"00000010": None}}, tmp_path, IndexRecord, CheckpointError, "an index")
    message(lambda: check_record({"kept": {"../10": 1.0}}, tmp_path, IndexRecord, CheckpointError, "an index"))


def test_settings_come_back_as_they_were_and_wrong_ones_are_named(tmp_path):
    settings = small_settings()
    values = settings.model_dump(mode="json")
    assert check_settings(type(settings), values, "model", tmp_path) == settings
    assert message(lambda: check_settings(type(settings), values | {"width": "wide"}, "model", tmp_path)).startswith(
        f"{tmp_path}: this is not the config of a regard checkpoint (model.width: "
    )
