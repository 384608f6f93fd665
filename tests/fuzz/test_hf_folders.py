"""Whatever stands in a Hugging Face folder, the model is used or refused in a sentence."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import good
from fuzz.bounds import fuzzed, only_mistakes
from fuzz.folders import predict
from fuzz.test_own_files import damage

EXPORTED = ("translate", "language-model", "masked-language-model", "classify", "regress", "tag", "answer", "choose")


@pytest.fixture(scope="session")
def exported(tiny_runs, tmp_path_factory) -> Path:
    """A Hugging Face folder of each task that has one."""
    folder = tmp_path_factory.mktemp("exported")
    for task in EXPORTED:
        good("export", tiny_runs / task, folder / task, "--quiet")
    return folder


@pytest.mark.parametrize("task", EXPORTED)
def test_a_whole_folder_is_used(task, exported):
    assert predict(f"hf:{exported / task}", task) is not None


@pytest.mark.parametrize("task", EXPORTED)
@fuzzed(12)
@given(data=st.data())
def test_a_damaged_folder_is_used_or_refused(task, exported, data):
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "model"
        shutil.copytree(exported / task, copy)
        names = sorted(path.name for path in copy.iterdir() if path.name != "manifest.json")
        damage(data, copy / data.draw(st.sampled_from(names)))
        with only_mistakes():
            predict(f"hf:{copy}", task)
