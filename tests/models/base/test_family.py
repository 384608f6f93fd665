"""A family of an installed package: trained and loaded by name, and named where its package is missing."""

import json
import shutil

import pytest

from commands import good
from every_task import TASKS
from installed import installed, write_package
from regard import registry
from regard.errors import CheckpointError, ConfigError, RunError
from regard.models.base.family import KINDS, Family
from regard.models.families import check_kind, family, presets_of
from regard.models.presets import preset, presets
from regard.runs.run import Run
from regard.tasks.load import load

CODE = """
from typing import Literal
from regard.models.base.family import Family, Preset
from regard.models.bert import Bert, BertSettings

class NarrowSettings(BertSettings):
    family: Literal["narrow"] = "narrow"

SIZES = {"width": 16, "heads": 2, "feed_forward_width": 16, "layers": 1, "max_positions": 64}
FAMILY = Family(NarrowSettings, Bert, "encoder", (Preset("narrow-tiny", "For a test.", SIZES),))
"""


@pytest.fixture
def narrow(monkeypatch, tmp_path):
    points = {"regard.families": {"narrow": "regard_narrow:FAMILY"}}
    installed(monkeypatch, write_package(tmp_path / "package", "regard-narrow", points, {"regard_narrow": CODE}))


def test_every_built_in_family_is_of_a_known_kind_and_its_settings_name_it():
    for name in registry.FAMILIES.built_in:
        each = family(name)
        assert isinstance(each, Family) and each.kind in KINDS and each.presets == ()
        assert each.settings.model_fields["family"].default == name


def test_its_presets_are_listed_last(narrow):
    assert list(presets())[-1] == "narrow-tiny" == presets_of("encoder")[-1]
    assert preset("narrow-tiny").settings["family"] == "narrow" and preset("narrow-tiny").settings["layers"] == 1
    with pytest.raises(ConfigError, match=r'"narrow-tiny" is a text encoder, but the task translate needs .*'):
        check_kind("translate", ("seq2seq",), "narrow", "narrow-tiny")


def test_a_model_of_it_is_trained_and_loaded_and_without_its_package_refused(narrow, tmp_path, monkeypatch):
    task = TASKS["masked-language-model"]
    words = [word for word in task.words(tmp_path / "data") if not word.startswith("model.")]
    good("train", *words, "--preset", "narrow-tiny", "--out", tmp_path / "run", "-q")
    config = json.loads((Run(tmp_path / "run").best / "config.json").read_text(encoding="utf-8"))
    assert config["model"]["family"] == "narrow" and config["packages"] == {"narrow": "regard-narrow"}
    assert load(tmp_path / "run").bundle.settings.family == "narrow"
    shutil.rmtree(tmp_path / "package" / "regard_narrow-1.0.dist-info")
    installed(monkeypatch)
    way_out = '"narrow" comes from the package regard-narrow, which is not installed; pip install regard-narrow.'
    with pytest.raises(CheckpointError) as error:
        load(tmp_path / "run")
    assert str(error.value) == f"{Run(tmp_path / 'run').best / 'config.json'}: {way_out}"
    with pytest.raises(RunError) as error:
        Run(tmp_path / "run").record  # noqa: B018
    assert str(error.value) == f"{tmp_path / 'run' / 'run.json'}: {way_out}"
